import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { DarumaError } from "../../../core/errors/errors.js";
import { messageOf } from "../../../core/text/message-of.js";
import type { InputOf, OutputOf } from "../../../operations/client.js";
import { adviceLines, commandOf } from "../../../tell/advice.js";
import { listNames, nameOf } from "../../../tell/lookup/job-name.js";
import { durationText } from "../../../tell/words/duration-text.js";
import { commandLine } from "../../declare/command-words.js";
import type { Present } from "../../declare/declaration.js";
import { pastLine } from "../../render/clock-time.js";
import { tableLines } from "../../render/columns.js";
import { resourceLines } from "../../render/resource-lines.js";
import { writeJson, writeLines, writeText } from "../../terminal/channel.js";

export const explainRun: Present = async ({ input }, { out, options }, client) => {
  const { text: _, advice, ...told } = await client.call("explain_run", input as InputOf<"explain_run">);
  const type = (command: string): string => commandLine(options, command);
  if (options.json)
    writeJson(out, { ...told, advice: advice.map((each) => ({ ...each, command: commandOf(each, type) })) });
  else if (told.at !== null) writeLines(out, [pastLine(told.at), ...told.lines]);
  else writeLines(out, [...told.lines, "", ...adviceLines(advice, type)]);
  return 0;
};

const HEADER = ["step", "began", "attempts", "failed", "at work", "waiting"];

/** Shows when the steps of a run were at work. */
export const timeline: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("get_timeline", input as InputOf<"get_timeline">);
  if (options.json) writeJson(out, answer);
  else if (answer.rows.length === 0) writeLines(out, ["no step has begun"]);
  else
    writeLines(
      out,
      tableLines(
        HEADER,
        answer.rows.map(({ step, jobs, from_ms, attempts, failed, busy_ms, waited_ms }) => [
          jobs > 1 ? `${step} (${jobs} jobs)` : step,
          from_ms === null ? "" : `after ${durationText(from_ms)}`,
          String(attempts),
          String(failed),
          durationText(busy_ms),
          waited_ms === 0 ? "" : durationText(waited_ms),
        ]),
        out.width(),
      ),
    );
  return 0;
};

export const report: Present = async ({ input, flags }, { out, options }, client) => {
  const { output: file } = flags as { readonly output?: string };
  const made = await client.call("report_run", input as InputOf<"report_run">);
  if (file !== undefined) writeNamedFile(file, made.text);
  if (options.json) writeJson(out, made);
  else if (file !== undefined) writeLines(out, [`wrote ${resolve(file)}`]);
  else writeText(out, made.text);
  return 0;
};

export const resources: Present = async ({ input }, { out, options }, client) => {
  const found = await client.call("get_resources", input as InputOf<"get_resources">);
  if (options.json) writeJson(out, found);
  else writeLines(out, resourceLines(found, out.width(), out.paint));
  return 0;
};

const SHORT_ID_CHARS = 12;

/** Prints only the path if a program reads it, so that `cd "$(daruma workspace 3)"` works. A person sees more. */
export const workspace: Present = async ({ input }, { out, options }, client) => {
  const found = await client.call("get_workspace", input as InputOf<"get_workspace">);
  if (options.json) {
    writeJson(out, found);
    return 0;
  }
  if (found.path === null)
    throw new DarumaError("WORKSPACE_NOT_FOUND", `the workspace of run ${found.run_id} does not exist yet`);
  writeLines(out, [found.path]);
  if (out.isTerminal && !options.quiet) writeLines(out, detailLines(found, out.width()));
  return 0;
};

function detailLines(found: OutputOf<"get_workspace">, width: number): string[] {
  const { commit, at_work, resets, checkpoints } = found;
  const rows = checkpoints.map((each) => [
    String(each.ordinal),
    nameOf(each.step, each.scope),
    String(each.attempt),
    (each.diff_hash ?? "no change").slice(0, SHORT_ID_CHARS),
    `${listNames(each.changed_files, (file) => file)}${each.superseded ? " (superseded)" : ""}`,
  ]);
  return [
    ...found.notes.map(({ message }) => `warning: ${message}`),
    `began at ${commit?.slice(0, SHORT_ID_CHARS) ?? "no commit"}; hard resets: ${resets}${at_work === null ? "" : `; at work: ${at_work}`}`,
    ...(rows.length === 0
      ? ["no checkpoints"]
      : tableLines(["checkpoint", "step", "attempt", "diff", "files"], rows, width)),
    ...found.partials.map(
      ({ step, scope, attempt, files, patch }) =>
        `set aside: ${nameOf(step, scope)}, attempt ${attempt}, ${files} ${files === 1 ? "file" : "files"}: ${patch}`,
    ),
  ];
}

/** Writes the file that a flag names. */
function writeNamedFile(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new DarumaError("USAGE", `${file} cannot be written: ${messageOf(error)}`);
  }
}
