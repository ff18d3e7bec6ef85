import { rescuerOf } from "../core/book/book.js";
import type { RunStatus } from "../core/model/rows.js";
import { parseStoredDefinition } from "../core/model/stored-definition.js";
import { writtenStep } from "../core/model/written-step.js";
import { list, nullable, number, type OfFields, object, type Shape, text } from "../core/text/shape.js";
import {
  type CountedStep,
  type CountFilter,
  type Counts,
  type DecisionCount,
  type RunCount,
  type ScriptCount,
  USAGE_COUNT,
  type UsageCount,
} from "../store/counts.js";
import type { Store } from "../store/store.js";
import { costsOf, EFFORT, WORKER_EFFORT, WORKFLOW_EFFORT, type WorkflowEffort } from "./statistics-cost.js";
import { isRemedy } from "./words/remedy-words.js";

export const OUTCOMES = ["at_once", "rescued", "handled", "held", "failed", "canceled", "active"] as const;
export type RunOutcome = (typeof OUTCOMES)[number];

/** How a run ended, or stands. One that fell and stood up is not the same as one that never fell. */
export function outcomeOf(run: {
  readonly status: RunStatus;
  /** It met a failure. */
  readonly fell: boolean;
  /** A failure of it was handled, or not all was mended in a child run of it. */
  readonly handled: boolean;
  /** A decision about its hold put an end to a job of it. */
  readonly decided: boolean;
}): RunOutcome {
  switch (run.status) {
    case "completed":
      return run.handled || run.decided ? "handled" : run.fell ? "rescued" : "at_once";
    case "held":
    case "failed":
    case "canceled":
      return run.status;
    default:
      return "active";
  }
}

/** How many runs ended, or stand, in each way. */
export const RUN_OUTCOMES = {
  ...{ at_once: number, rescued: number, handled: number, held: number },
  ...{ failed: number, canceled: number, active: number },
} as const satisfies { readonly [outcome in RunOutcome]: Shape };
type Outcomes = OfFields<typeof RUN_OUTCOMES>;

/** What somebody did about failures: how many jobs it rescued, and how many it did not. */
const HELPER = { by: text, rescued: number, not_rescued: number } as const;
type Helper = OfFields<typeof HELPER>;

/** What people decided; half of the decisions were waited for less long than the median, null where there were none. */
const DECISIONS = { holds: number, questions: number, median_ms: nullable(number) } as const;
type Decisions = OfFields<typeof DECISIONS>;

/** What runs add up to, as `daruma stats --json` prints it. Rates are shares of attempts, 0 to 1. */
export const STATISTICS = {
  runs: number,
  outcomes: object(RUN_OUTCOMES),
  over_time: list(object({ ...RUN_OUTCOMES, at: number })),
  rungs: list(object(HELPER)),
  ...EFFORT,
  recovery_scripts: object({ run: number, failed: number }),
  decisions: object(DECISIONS),
  by_workflow: list(object(WORKFLOW_EFFORT)),
  by_worker: list(object(WORKER_EFFORT)),
  models: list(object(USAGE_COUNT)),
} as const;
export type Statistics = OfFields<typeof STATISTICS>;

/** All that is added up. */
interface Counted {
  readonly runs: readonly Counts["runs"][];
  readonly attempts: readonly Counts["attempts"][];
  readonly failures: readonly Counts["failures"][];
  readonly ends: readonly Counts["ends"][];
  readonly usage: readonly UsageCount[];
  readonly scripts: readonly ScriptCount[];
  readonly decisions: readonly DecisionCount[];
}

export function statisticsOf(
  counted: Counted,
  bucketMs: number,
  actionOf: (step: CountedStep) => string,
): Statistics {
  const { runs, ends, usage, scripts, decisions } = counted;
  const { by_workflow, by_worker, ...effort } = costsOf(counted, actionOf);
  const runsOf = sumBy(runs, ({ workflow }) => workflow);
  return {
    runs: runs.reduce((sum, { runs: more }) => sum + more, 0),
    outcomes: outcomesOf(runs),
    over_time: [...groupBy(runs, ({ bucket }) => bucket)]
      .map(([bucket, of]) => ({ at: bucket * bucketMs, ...outcomesOf(of) }))
      .sort((a, b) => a.at - b.at),
    rungs: helpersOf(ends),
    ...effort,
    by_workflow: [...runsOf]
      .map(([workflow, count]) => ({ runs: count, ...(by_workflow.get(workflow) ?? emptyOf(workflow)) }))
      .sort((a, b) => b.lost_ms - a.lost_ms || b.runs - a.runs),
    by_worker,
    decisions: decisionsOf(decisions),
    models: [...usage].sort((a, b) => b.input_tokens + b.output_tokens - (a.input_tokens + a.output_tokens)),
    recovery_scripts: scripts[0] ?? { run: 0, failed: 0 },
  };
}

function emptyOf(workflow: string): WorkflowEffort {
  const none = { attempts: 0, running_ms: 0, lost_ms: 0, retry_waiting_ms: 0 };
  return { workflow, ...none, attempts_until_success: null };
}

function outcomesOf(runs: readonly RunCount[]): Outcomes {
  const outcomes = { at_once: 0, rescued: 0, handled: 0, held: 0, failed: 0, canceled: 0, active: 0 };
  for (const each of runs) outcomes[outcomeOf(each)] += each.runs;
  return outcomes;
}

function decisionsOf(rows: readonly DecisionCount[]): Decisions {
  const of = (kind: DecisionCount["kind"]): number =>
    rows.reduce((sum, each) => sum + (each.kind === kind ? each.decisions : 0), 0);
  const [holds, questions] = [of("hold"), of("question")];
  const sorted = [...rows].sort((a, b) => a.after_ms - b.after_ms);
  /** What the one at this place waited for. */
  const at = (place: number): number => {
    let left = place;
    for (const { after_ms, decisions } of sorted) {
      if (left < decisions) return after_ms;
      left -= decisions;
    }
    return 0;
  };
  const last = holds + questions - 1;
  const median_ms = last < 0 ? null : Math.round((at(Math.floor(last / 2)) + at(Math.ceil(last / 2))) / 2);
  return { holds, questions, median_ms };
}

/** Counted as the failure book counts what rescued a failure; to give a job up is no help. */
function helpersOf(ends: Counted["ends"]): Helper[] {
  const helpers = new Map<string, { rescued: number; not_rescued: number }>();
  const add = (by: string, kind: "rescued" | "not_rescued", jobs: number): void => {
    const before = helpers.get(by) ?? { rescued: 0, not_rescued: 0 };
    helpers.set(by, { ...before, [kind]: before[kind] + jobs });
  };
  for (const { action, tried, jobs } of ends) {
    const rescuer = rescuerOf(action);
    if (rescuer !== null) add(rescuer, "rescued", jobs);
    for (const each of tried) add(each, "not_rescued", jobs);
  }
  return [...helpers]
    .filter(([by]) => isRemedy(by))
    .map(([by, counts]) => ({ by, ...counts }))
    .sort((a, b) => b.rescued - a.rescued || b.not_rescued - a.not_rescued || (a.by < b.by ? -1 : 1));
}

function groupBy<T, Key>(rows: readonly T[], keyOf: (row: T) => Key): Map<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}

function sumBy(runs: readonly RunCount[], keyOf: (row: RunCount) => string): Map<string, number> {
  return new Map(
    [...groupBy(runs, keyOf)].map(([key, of]) => [key, of.reduce((sum, { runs: more }) => sum + more, 0)]),
  );
}

type CountedStore = Pick<Store, "count" | "readDefinition">;

/** Whose attempts say how many tokens they took. */
const MODEL_ACTION = "llm_call";

/** One count after the other: others may use the store in between. */
export async function collectStatistics(store: CountedStore, filter: CountFilter): Promise<Statistics> {
  const runs = await store.count("runs", filter);
  const attempts = await store.count("attempts", filter);
  const failures = await store.count("failures", filter);
  const ends = await store.count("ends", filter);
  const actions = await readActions(store, attempts);
  const actionOf = (step: CountedStep): string => actions.get(keyOf(step)) ?? "unknown";
  const models = stepsOf(attempts).filter((step) => actionOf(step) === MODEL_ACTION);
  const ruled = stepsOf(failures.filter(({ action }) => action === "rule"));
  return statisticsOf(
    {
      ...{ runs, attempts, failures, ends },
      decisions: await store.count("decisions", filter),
      usage: models.length === 0 ? [] : await store.count("usage", { ...filter, steps: models }),
      scripts: ruled.length === 0 ? [] : await store.count("scripts", { ...filter, steps: ruled }),
    },
    filter.bucketMs,
    actionOf,
  );
}

function keyOf({ definition_hash, step }: CountedStep): string {
  return `${definition_hash} ${step}`;
}

function stepsOf(rows: readonly CountedStep[]): CountedStep[] {
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()];
}

/** What each step does. */
async function readActions(store: CountedStore, rows: readonly CountedStep[]): Promise<Map<string, string>> {
  const actions = new Map<string, string>();
  for (const hash of new Set(rows.map(({ definition_hash }) => definition_hash))) {
    const text = await store.readDefinition(hash);
    const steps = text === null ? [] : parseStoredDefinition(text, hash).steps;
    for (const { id, family = null, action } of steps)
      actions.set(keyOf({ definition_hash: hash, step: writtenStep({ step: id, family }) }), action.type);
  }
  return actions;
}
