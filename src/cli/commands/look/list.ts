import { DarumaError } from "../../../core/errors/errors.js";
import type { RunStatus } from "../../../core/model/rows.js";
import { labelsText } from "../../../core/text/labels.js";
import { oneLine } from "../../../core/text/plain-text.js";
import type { InputOf, OutputOf } from "../../../operations/client.js";
import { goesOnWith } from "../../../tell/lookup/run-program.js";
import { durationText } from "../../../tell/words/duration-text.js";
import { statusWord } from "../../../tell/words/status-word.js";
import { type CommandLine, commandLine } from "../../declare/command-words.js";
import type { Present } from "../../declare/presenter.js";
import { clockTime } from "../../render/clock-time.js";
import { importedMark } from "../../render/run-status.js";
import { tableLines } from "../../render/table.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

const STATUSES: readonly RunStatus[] = [
  "pending",
  "running",
  "paused",
  "held",
  "completed",
  "failed",
  "canceled",
];

/** Longer labels would leave no room for errors. `show` has all of them. */
const MAX_LABELS_CHARS = 40;

export const list: Present = async ({ input, flags }, { out, options }, client) => {
  const status = readStatuses((flags.status as readonly string[] | undefined) ?? []);
  const wanted = { ...input, ...(status.length === 0 ? {} : { status }) } as InputOf<"list_runs">;
  const { items } = await client.call("list_runs", wanted);
  if (options.json) writeJson(out, items);
  else if (items.length === 0) writeLines(out, ["no runs"]);
  else {
    writeLines(out, runLines(items, out.width()));
    writeLines(
      out,
      interruptedLines(items, (command) => commandLine(options, command)),
    );
  }
  return 0;
};

function readStatuses(given: readonly string[]): RunStatus[] {
  return given
    .flatMap((text) => text.split(","))
    .map((word) => {
      const status = STATUSES.find((known) => known === word);
      if (status === undefined)
        throw new DarumaError("USAGE", `unknown status ${word}`, {
          hint: `Use one of ${STATUSES.join(", ")}.`,
        });
      return status;
    });
}

type ListedRun = OutputOf<"list_runs">["items"][number];

function runLines(runs: readonly ListedRun[], width: number): string[] {
  const areLabeled = runs.some(({ labels }) => Object.keys(labels).length > 0);
  const rows = runs.map((run) => [
    String(run.run_id),
    statusWord(run) + handledMark(run) + strictMark(run) + importedMark(run),
    run.workflow,
    clockTime(run.created_at),
    run.duration_ms === null ? "" : durationText(run.duration_ms),
    ...(areLabeled ? [oneLine(labelsText(run.labels), MAX_LABELS_CHARS)] : []),
    oneLine(lastWords(run)),
  ]);
  const labels = areLabeled ? ["labels"] : [];
  return tableLines(
    ["run", "status", "workflow", "created (UTC)", "took", ...labels, "what happened"],
    rows,
    width,
  );
}

/** Marks a completed run in which a failure was handled or finished by a decision, so that it does not look as if nothing had failed. */
function handledMark({ status, handled, decided, open_children }: ListedRun): string {
  if (status !== "completed") return "";
  const marks = [
    ...(handled > 0 ? [`${handled} handled`] : []),
    ...(decided > 0 ? [`${decided} decided`] : []),
    ...open_children.map((id) => `run ${id} open`),
  ];
  return marks.map((mark) => `, ${mark}`).join("");
}

/** A strict run may end with another exit code than its status says. */
function strictMark({ strict, fails_by_strict }: ListedRun): string {
  if (!strict) return "";
  return fails_by_strict === null ? ", strict" : ", strict: exit 1";
}

function lastWords(run: ListedRun): string {
  const { error, waits_at, waiting, waits_for } = run;
  if (error !== null) return `${error.code}: ${error.message}`;
  const others = waits_at === null || waiting < 2 ? "" : `; ${waiting - 1} more wait for a person`;
  if (waits_at !== null || handledMark(run) !== "") return run.happened + others;
  return waits_for?.text ?? "";
}

function interruptedLines(runs: readonly ListedRun[], toType: CommandLine): string[] {
  const interrupted = new Map(
    runs.filter((run) => run.interrupted).map(({ resumes, needs_program }) => [resumes, needs_program]),
  );
  return [...interrupted].map(([id, program]) =>
    program === null
      ? `run ${id} was interrupted; to continue it: ${toType(`resume ${id}`)}`
      : `run ${id} was interrupted; it ${goesOnWith(program, id)}`,
  );
}
