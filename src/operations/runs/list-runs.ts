import { z } from "zod";
import { DEFAULT_PRIORITY } from "../../core/groups/concurrency.js";
import type { RunRow, RunStatus } from "../../core/model/rows.js";
import type { Concern } from "../../core/tally/run-tally.js";
import type { RunFilter } from "../../store/filters.js";
import type { Store } from "../../store/store.js";
import { decidedJobs } from "../../tell/decided-jobs.js";
import { type HandledChild, handledInChildren } from "../../tell/handled-in-children.js";
import { type HeldChild, heldBelow } from "../../tell/lookup/held-below.js";
import { isImported } from "../../tell/lookup/own-runs.js";
import { interruptedRuns, runToResume } from "../../tell/lookup/run-owner.js";
import { programOf } from "../../tell/lookup/run-program.js";
import { countsOf, type RunCounts } from "../../tell/run-counts.js";
import { timesOf } from "../../tell/run-report.js";
import { OUTCOMES, outcomeOf, type RunOutcome } from "../../tell/statistics.js";
import { childText, isOpenChild, strictReason } from "../../tell/words/handled-text.js";
import { happenedText } from "../../tell/words/run-happened.js";
import { type WaitsForPlace, waitsOf } from "../jobs/waits-for.js";
import { type Answer, operation } from "../operation.js";
import { error, flag, limit, listOf, runStatus } from "../schemas.js";
import { searchFields, searchOf, textField } from "../search-fields.js";
import {
  concurrency,
  heldBelow as heldBelowShape,
  imported,
  interrupted,
  labels,
  needsProgram,
  runPriority,
  waitsForPlace,
} from "./run-shapes.js";

const runItemShape = z.object({
  run_id: z.number(),
  workflow: z.string(),
  workflow_id: z.number(),
  version: z.number().describe("Of its workflow."),
  status: runStatus,
  interrupted,
  imported,
  strict: z.boolean().describe("A handled failure makes the exit code 1, and is a failure in reports."),
  fails_by_strict: z
    .string()
    .nullable()
    .describe("Why a completed run counts as failed because it is strict; null: it does not."),
  needs_program: needsProgram,
  labels,
  concurrency,
  priority: runPriority,
  waits_for: waitsForPlace,
  file: z.string().nullable(),
  parent: z.object({ run_id: z.number(), job_id: z.number() }).nullable(),
  created_at: z.string(),
  finished_at: z.string().nullable(),
  duration_ms: z.number().nullable(),
  error: error.nullable(),
  jobs: z.record(z.string(), z.number()).describe("How many jobs have which status."),
  resumes: z.number().describe("The run to resume: itself, or an open one that it is a child run of."),
  handled: z.number().describe("Failures that were handled, of a completed run also in its child runs."),
  decided: z
    .number()
    .describe(
      "Jobs that were held and then skipped or completed, of a completed run also in its child runs.",
    ),
  held_below: heldBelowShape,
  open_children: z.array(z.number()).describe("Of a completed run: its child runs that are open."),
  recoveries: z.number().describe("How often a rung brought a step back."),
  waiting: z.number().describe("Jobs that wait for a person: holds and open questions."),
  asks: z.enum(["hold", "dead_letter", "question"]).nullable().describe("What the first of them is."),
  waits_at: z
    .object({ step: z.string(), scope: z.string(), code: z.string().nullable(), message: z.string() })
    .nullable()
    .describe("Where the first of them is and why it is held, or what it asks. A question has no code."),
  happened: z.string().describe("One line: its error, what it waits for, or what was rescued and how."),
});

const outcome = z.object({
  run_id: z.number(),
  outcome: z.enum(OUTCOMES),
});

const input = z.strictObject({
  status: listOf(runStatus).optional().describe("Only runs with these statuses, separated by commas."),
  workflow: z.string().optional().describe("Only runs of the workflow with this name."),
  ...searchFields,
  text: textField.describe("Only with this text in their workflow's name, labels or error messages."),
  interrupted: flag.default(false).describe("Only unfinished runs that no process is running."),
  needs_you: flag.default(false).describe("Only runs that wait for a person."),
  rescued: flag.default(false).describe("Only completed runs in which the ladder rescued a step."),
  outcomes: flag.default(false).describe("Also how the last 20 runs of each listed workflow ended."),
  limit: limit.default(20),
  before: z.coerce.number().int().positive().optional().describe("Only runs with a smaller number."),
});
type Asked = z.output<typeof input>;
type Switch = "needs_you" | "rescued" | "outcomes";
type RunListRequest = Omit<Asked, Switch> & Partial<Pick<Asked, Switch>>;

export const listRuns = operation({
  name: "list_runs",
  summary: "list runs, newest first",
  description:
    "Lists runs with their status, newest first; every filter must match. `next` is the `before` of the next page.",
  role: "viewer",
  effect: "reads",
  input,
  output: z.object({
    items: z.array(runItemShape),
    next: z.number().nullable(),
    outcomes: z
      .record(z.string(), z.array(outcome))
      .optional()
      .describe("By workflow, oldest first, if asked for."),
  }),
  rest: { method: "GET", path: "/runs" },
  cli: [
    {
      words: "list",
      positional: [],
      examples: [
        "daruma list",
        "daruma list --status failed,held --limit 5 --json",
        "daruma list --since yesterday --label team=core --text 'connection refused'",
      ],
    },
  ],
  store: "optional",
  handler: async ({ store, now }, input) => {
    const page = await listRunReports(store, input, now());
    return input.outcomes ? { ...page, outcomes: await outcomesOf(store, page.items) } : page;
  },
});

/** Nothing in a store says which of the running ones these are: they are looked for page by page. */
const INTERRUPTED_PAGE = 1_000;

/** One line of `daruma list`. Times are ISO 8601. */
type RunItem = Answer<typeof runItemShape>;

/** The newest first; `next` is the `before` of the next page. */
export async function listRunReports(
  store: Store,
  request: RunListRequest,
  now: number,
): Promise<{ items: RunItem[]; next: number | null }> {
  const { limit } = request;
  const items: RunItem[] = [];
  const versions = new Map<number, number>();
  for await (const { run, interrupted, waits } of runsOf(store, request, now)) {
    // One more is there.
    if (items.length === limit) return { items, next: items.at(-1)!.run_id };
    const id = run.workflow_id;
    if (!versions.has(id)) versions.set(id, (await store.readWorkflow(id))!.version);
    const below = await handledInChildren(store, run);
    const stands = {
      ...{ interrupted, waits, version: versions.get(id)!, below },
      failsByStrict: await failsByStrict(store, run, below),
      heldBelow: await heldBelow(store, run),
      resumes: interrupted ? await runToResume(store, run) : run.id,
    };
    items.push(itemOf(run, stands, await countsOf(store, run)));
  }
  return { items, next: null };
}

/** What no row says. */
interface StandsNow {
  readonly interrupted: boolean;
  readonly waits: WaitsForPlace | null;
}

interface Listed extends StandsNow {
  readonly version: number;
  readonly failsByStrict: string | null;
  readonly below: readonly HandledChild[];
  readonly heldBelow: readonly HeldChild[];
  readonly resumes: number;
}

async function failsByStrict(
  store: Store,
  run: RunRow,
  below: readonly HandledChild[],
): Promise<string | null> {
  if (run.status !== "completed" || run.options.strict !== true) return null;
  const failed = (run.tally?.handled ?? 0) > 0 ? [run.id] : [];
  return strictReason({
    handled_failures: failed,
    decided: await decidedJobs(store, run),
    handled_in_children: below,
  });
}

async function* runsOf(
  store: Store,
  request: RunListRequest,
  now: number,
): AsyncGenerator<{ readonly run: RunRow } & StandsNow> {
  const { before, limit, interrupted: only } = request;
  const asked =
    request.rescued === true ? (request.status ?? ["completed"]).filter(isCompleted) : request.status;
  const status = only ? (asked ?? ["running"]).filter((each) => each === "running") : asked;
  if (status?.length === 0) return;
  const pageSize = only ? INTERRUPTED_PAGE : limit + 1;
  const filter: RunFilter = {
    ...searchOf(request, now),
    ...(status === undefined ? {} : { status }),
    ...(request.rescued === true ? { recovered: true } : {}),
    ...(request.needs_you === true ? { waiting: true } : {}),
    limit: pageSize,
  };
  for (let beforeId = before; ; ) {
    const rows = await store.listRuns({ ...filter, ...(beforeId === undefined ? {} : { beforeId }) });
    const interrupted = await interruptedRuns(store, rows);
    const waits = await waitsOf(store, rows, now);
    for (const run of rows)
      if (!only || interrupted.has(run.id))
        yield { run, interrupted: interrupted.has(run.id), waits: waits.get(run.id) ?? null };
    if (rows.length < pageSize) return;
    beforeId = rows.at(-1)!.id;
  }
}

function isCompleted(status: RunStatus): boolean {
  return status === "completed";
}

const ASKS = {
  held: "hold",
  dead_letter: "dead_letter",
  question: "question",
  handled: null,
  failed: null,
} as const;

function itemOf(
  run: RunRow,
  { interrupted, waits, version, below, failsByStrict, heldBelow: held, resumes }: Listed,
  told: RunCounts,
): RunItem {
  const { recoveries, waiting, tally } = told;
  const asks = tally.concern === null ? null : ASKS[tally.concern.kind];
  const { error } = run;
  return {
    run_id: run.id,
    workflow: run.workflow,
    workflow_id: run.workflow_id,
    version,
    status: run.status,
    interrupted,
    imported: isImported(run),
    strict: run.options.strict === true,
    fails_by_strict: failsByStrict,
    needs_program: programOf(run),
    labels: run.labels ?? {},
    concurrency: run.concurrency,
    priority: run.priority ?? DEFAULT_PRIORITY,
    waits_for: waits,
    file: run.file,
    parent: run.parent,
    ...timesOf(run),
    error,
    jobs: tally.jobs,
    resumes,
    handled: below.reduce((sum, { failures }) => sum + failures, tally.handled),
    decided: below.reduce((sum, { decided }) => sum + decided.length, tally.decided?.jobs ?? 0),
    held_below: [...held],
    open_children: below.filter(isOpenChild).map(({ run_id }) => run_id),
    recoveries,
    waiting,
    asks,
    waits_at: asks === null ? null : placeOf(tally.concern!),
    happened:
      waits?.text ??
      [happenedText({ status: run.status, error, recoveries, tally }), ...below.map(childText)]
        .filter((each) => each !== "")
        .join("; "),
  };
}

function placeOf({ step, scope, code, message }: Concern): RunItem["waits_at"] {
  return { step, scope, code, message };
}

const TOLD_OUTCOMES = 20;

/** The outcomes of the last runs of every listed workflow, oldest first. */
async function outcomesOf(store: Store, items: readonly RunItem[]) {
  const workflows = [...new Set(items.map(({ workflow }) => workflow))];
  const lists = workflows.map(async (workflow) => {
    const runs = await store.listRuns({ workflow, limit: TOLD_OUTCOMES });
    return [workflow, runs.reverse().map((run) => ({ run_id: run.id, outcome: outcomeIn(run) }))] as const;
  });
  return Object.fromEntries(await Promise.all(lists));
}

/** A row of an older version does not say whether it met a failure that a person answered. */
function outcomeIn({ status, recoveries, tally }: RunRow): RunOutcome {
  const fell = tally?.fell === true || (recoveries ?? 0) > 0;
  return outcomeOf({
    status,
    fell,
    handled: (tally?.handled ?? 0) > 0 || tally?.below === true,
    decided: tally?.decided !== undefined,
  });
}
