import { DarumaError } from "../../../core/errors/errors.js";
import type { RunStatus } from "../../../core/model/rows.js";
import { labelsText } from "../../../core/text/labels.js";
import { oneLine } from "../../../core/text/plain-text.js";
import type { Client, InputOf, OutputOf } from "../../../operations/client.js";
import type { OperationName } from "../../../operations/operations.js";
import { nameOf } from "../../../tell/lookup/job-name.js";
import { goesOnWith } from "../../../tell/lookup/run-program.js";
import { durationText } from "../../../tell/words/duration-text.js";
import { statusWord } from "../../../tell/words/status-word.js";
import { type CommandLine, commandLine } from "../../declare/command-words.js";
import type { Present } from "../../declare/declaration.js";
import { clockTime } from "../../render/clock-time.js";
import { tableLines } from "../../render/columns.js";
import { importedMark } from "../../render/run-status.js";
import { statsLines } from "../../render/stats-lines.js";
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

type ListName = {
  [Name in OperationName]: OutputOf<Name> extends { items: readonly object[] } ? Name : never;
}[OperationName];
type Item<Name extends ListName> = OutputOf<Name>["items"][number];

interface Look<Name extends ListName> {
  /** What is said where there is nothing. */
  readonly none: string | ((input: InputOf<Name>) => string);
  readonly header: readonly string[];
  readonly row: (item: Item<Name>) => readonly (string | number | null)[];
}

/** Prints a list as a table; with --json its items. */
function listOf<Name extends ListName>(name: Name, { none, header, row }: Look<Name>): Present {
  return async ({ input }, { out, options }, client: Client) => {
    const { items } = (await client.call(name, input as InputOf<Name>)) as { items: Item<Name>[] };
    if (options.json) writeJson(out, items);
    else if (items.length === 0)
      writeLines(out, [typeof none === "string" ? none : none(input as InputOf<Name>)]);
    else {
      const rows = items.map((item) => row(item).map((cell) => oneLine(String(cell ?? ""))));
      writeLines(out, tableLines([...header], rows, out.width()));
    }
    return 0;
  };
}

export const jobs = listOf("list_jobs", {
  none: ({ status }) =>
    status?.includes("failed") === true && !status.includes("held")
      ? "no jobs; those that wait for a decision about their failure are held: --status held"
      : "no jobs",
  header: ["job", "run", "step", "status", "attempts", "error or what it waits for"],
  row: ({ id, run_id, step, scope, status, attempts, error, waits_for }) => [
    id,
    run_id,
    nameOf(step, scope),
    status,
    attempts,
    waits_for !== null ? waits_for.text : error === null ? "" : `${error.code}: ${error.message}`,
  ],
});

export const artifacts = listOf("list_artifacts", {
  none: "no artifacts",
  header: ["name", "bytes"],
  row: ({ name, bytes }) => [name, bytes],
});

export const handlers = listOf("list_failure_handlers", {
  none: "no failure handlers",
  header: ["id", "workflow", "name", "rules"],
  row: ({ id, workflow_id, name, rules }) => [id, workflow_id, name, rules],
});

export const workflows = listOf("list_workflows", {
  none: "no workflows",
  header: ["id", "name", "version", "created (UTC)", "from"],
  row: ({ id, name, version, created_at, published, file }) => [
    id,
    name,
    version,
    clockTime(created_at),
    published ? "published" : (file ?? "a run"),
  ],
});

export const drafts = listOf("list_drafts", {
  none: "no drafts",
  header: ["name", "revision", "saved (UTC)"],
  row: ({ name, revision, updated_at }) => [name, revision, clockTime(updated_at)],
});

export const tokens = listOf("list_tokens", {
  none: "no tokens",
  header: ["id", "name", "role", "created (UTC)", "expires (UTC)", "revoked (UTC)"],
  row: ({ id, name, role, created_at, expires_at, revoked_at }) => [
    id,
    name,
    role,
    clockTime(created_at),
    clockTime(expires_at),
    clockTime(revoked_at),
  ],
});

export const stats: Present = async ({ input }, { out, options }, client) => {
  const found = await client.call("get_stats", input as InputOf<"get_stats">);
  if (options.json) writeJson(out, found);
  else writeLines(out, statsLines(found, out.width(), out.paint));
  return 0;
};

const HEADER = ["step", "flaky", "jobs", "rate", "cost", "trend", "last run"];

/** Lists steps that passed only because they were retried. */
export const flakes: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("list_flakes", input as InputOf<"list_flakes">);
  if (options.json) writeJson(out, answer);
  else if (answer.items.length === 0)
    writeLines(out, [`no step has passed by retry alone since ${clockTime(answer.since)} UTC`]);
  else
    writeLines(
      out,
      tableLines(
        HEADER,
        answer.items.map((item) => [
          oneLine(`${item.workflow}/${item.step}`),
          String(item.flaky),
          String(item.jobs),
          `${Math.round(item.rate * 100)} %`,
          durationText(item.cost_ms),
          item.trend,
          String(item.last_run),
        ]),
        out.width(),
      ),
    );
  return 0;
};
