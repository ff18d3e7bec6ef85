import { readFileSync } from "node:fs";
import { DarumaError } from "../../../core/errors/errors.js";
import { aboutSize, counted } from "../../../core/text/amount-text.js";
import type { InputOf, OutputOf } from "../../../operations/client.js";
import { countsText } from "../../../operations/retention/retention-passes.js";
import { commandLine } from "../../declare/command-words.js";
import type { Present } from "../../declare/declaration.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

type Removed = OutputOf<"prune_runs">["removed"][number];

export const prune: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("prune_runs", input as InputOf<"prune_runs">);
  if (options.json) writeJson(out, answer);
  else if (!options.quiet) {
    const { removed, logs, artifacts, kept } = answer;
    const line =
      (what: string) =>
      ({ run_id, workflow, status, finished_at, because, bytes }: Removed): string =>
        `${what}run ${run_id} ${workflow}: ${status} ${finished_at} (${because}, ${aboutSize(bytes)})`;
    writeLines(out, [
      ...removed.map(line("")),
      ...logs.map(line("logs of ")),
      ...artifacts.map(line("artifacts of ")),
      ...kept.map(({ run_id, because }) => `run ${run_id} stays: ${because}`),
      lastLine(answer),
    ]);
  }
  return 0;
};

function lastLine({ dry_run, removed, logs, artifacts, bytes, ...rest }: OutputOf<"prune_runs">): string {
  const counts = { runs: removed.length, logs: logs.length, artifacts: artifacts.length, bytes };
  const what = [
    countsText(counts) ?? "0 runs",
    ...more(rest.allocations, "allocation"),
    ...more(rest.tokens, "token"),
  ].join(", ");
  if (dry_run) return `dry run: ${what} would be removed`;
  const before =
    rest.rules === "settings" || rest.ended_before === null ? "" : ` that ended before ${rest.ended_before}`;
  return `${what} removed${before}`;
}

/** A line for things that most servers do not have; empty if there are none. */
function more(count: number, noun: string): string[] {
  return count === 0 ? [] : [counted(count, noun)];
}

const STANDARD_INPUT = 0;

export const importRun: Present = async ({ args }, { out, options }, client) => {
  const document = readDocument(args[0] as string);
  const answer = await client.call("import_run", { document } as InputOf<"import_run">);
  if (options.json) writeJson(out, answer);
  else if (!options.quiet)
    writeLines(out, [
      `run ${answer.exported_run_id} of ${answer.workflow}, ${answer.status}, imported as run ${answer.run_id}`,
      `next: ${commandLine(options, `show ${answer.run_id}`)}`,
    ]);
  return 0;
};

function readDocument(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file === "-" ? STANDARD_INPUT : file, "utf8");
  } catch (error) {
    throw new DarumaError("FILE_NOT_FOUND", `${file}: ${(error as Error).message}`, { cause: error });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DarumaError("IMPORT_INVALID", `${file} is not JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
