import { isDeepStrictEqual } from "node:util";
import type { Definition } from "../core/model/definition.js";
import { JOB_STATUSES, type JobStatus } from "../core/model/rows.js";
import type { Json } from "../core/text/json.js";
import { list, nullable, number, type OfFields, object, text, word } from "../core/text/shape.js";
import type { Store } from "../store/store.js";

export const CHANGED_STEP = {
  step: text,
  change: word(["added", "removed", "changed"]),
  /** For a changed step: the changed keys, as a workflow file has them. */
  keys: list(text),
} as const;
type ChangedStep = OfFields<typeof CHANGED_STEP>;

export interface DefinitionChanges {
  /** Keys of the workflow beside its steps. */
  readonly keys: readonly string[];
  readonly steps: readonly ChangedStep[];
}

/** What changed from the one to the other. */
export function compareDefinitions(before: Definition, now: Definition): DefinitionChanges {
  const { steps: oldSteps, ...oldRest } = before;
  const { steps: newSteps, ...newRest } = now;
  const old = new Map(oldSteps.map((step) => [step.id, step]));
  const ids = new Set(newSteps.map(({ id }) => id));
  const changed = newSteps.flatMap((step): ChangedStep[] => {
    const earlier = old.get(step.id);
    if (earlier === undefined) return [{ step: step.id, change: "added", keys: [] }];
    const keys = [
      ...changedKeys({ ...earlier, action: null }, { ...step, action: null }),
      ...changedKeys(earlier.action, step.action),
    ];
    return keys.length === 0 ? [] : [{ step: step.id, change: "changed", keys }];
  });
  const removed = oldSteps
    .filter(({ id }) => !ids.has(id))
    .map(({ id }): ChangedStep => ({ step: id, change: "removed", keys: [] }));
  return { keys: changedKeys(oldRest, newRest), steps: [...changed, ...removed] };
}

function changedKeys(before: object, now: object): string[] {
  const value = (of: object, key: string): unknown => (of as { readonly [key: string]: unknown })[key];
  return [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((key) => !isDeepStrictEqual(value(before, key), value(now, key)))
    .map(inSnakeCase);
}

/** Definitions are stored in camelCase; files are written in snake_case. */
function inSnakeCase(key: string): string {
  return [...key].map((letter) => (isCapital(letter) ? `_${letter.toLowerCase()}` : letter)).join("");
}

function isCapital(letter: string): boolean {
  return letter !== letter.toLowerCase();
}

export interface ChangedInput {
  readonly name: string;
  /** Null if the run had none. */
  readonly run: Json;
  readonly other: Json;
}

export function compareInputs(
  now: { readonly [name: string]: Json },
  before: { readonly [name: string]: Json },
): ChangedInput[] {
  return [...new Set([...Object.keys(now), ...Object.keys(before)])]
    .filter((name) => !isDeepStrictEqual(now[name], before[name]))
    .map((name) => ({ name, run: now[name] ?? null, other: before[name] ?? null }));
}

/** The time of all attempts of a step together; null if it had none. */
export const STEP_TIME = { step: text, run_ms: nullable(number), other_ms: nullable(number) } as const;
type StepTime = OfFields<typeof STEP_TIME>;

/** Null if the run has no such job. */
const ended = nullable(object({ job_id: number, status: word(JOB_STATUSES) }));
export const DIFFERENT_JOB = { step: text, scope: text, run: ended, other: ended } as const;
type DifferentJob = OfFields<typeof DIFFERENT_JOB>;

/** The times of one run, with its jobs by step and scope. */
export interface RunTimes {
  readonly byStep: ReadonlyMap<string, number>;
  readonly jobs: ReadonlyMap<string, TimedJob>;
}

interface TimedJob {
  readonly id: number;
  readonly step: string;
  readonly scope: string;
  readonly status: JobStatus;
  readonly handled: boolean;
  readonly startedAt: number | null;
}

const JOBS_PER_PAGE = 1_000;

export async function readTimes(store: Store, runId: number): Promise<RunTimes> {
  const started = new Map<number, number>();
  const spent = new Map<number, number>();
  for (const { job_id, started_at, finished_at } of await store.readAttempts(runId)) {
    if (!started.has(job_id)) started.set(job_id, started_at);
    spent.set(job_id, (spent.get(job_id) ?? 0) + Math.max(0, (finished_at ?? started_at) - started_at));
  }
  const byStep = new Map<string, number>();
  const jobs = new Map<string, TimedJob>();
  for (let afterId: number | undefined = 0; afterId !== undefined; ) {
    const page: Awaited<ReturnType<Store["listJobs"]>> = await store.listJobs({
      runId,
      afterId,
      limit: JOBS_PER_PAGE,
    });
    for (const { id, step, scope, status, handled } of page) {
      const ms = spent.get(id);
      if (ms !== undefined) byStep.set(step, (byStep.get(step) ?? 0) + ms);
      jobs.set(JSON.stringify([step, scope]), {
        id,
        step,
        scope,
        status,
        handled,
        startedAt: started.get(id) ?? null,
      });
    }
    afterId = page.length < JOBS_PER_PAGE ? undefined : page.at(-1)!.id;
  }
  return { byStep, jobs };
}

/** The steps that differ most come first. */
export function compareTimes(now: RunTimes, before: RunTimes): StepTime[] {
  const steps = new Set([...now.byStep.keys(), ...before.byStep.keys()]);
  const difference = ({ run_ms, other_ms }: StepTime): number => Math.abs((run_ms ?? 0) - (other_ms ?? 0));
  return [...steps]
    .map((step) => ({
      step,
      run_ms: now.byStep.get(step) ?? null,
      other_ms: before.byStep.get(step) ?? null,
    }))
    .sort((a, b) => difference(b) - difference(a));
}

/** Jobs that ended otherwise, in the order in which they began in the run. */
export function compareOutcomes(now: RunTimes, before: RunTimes): DifferentJob[] {
  const shown = (job: TimedJob | undefined) =>
    job === undefined ? null : { job_id: job.id, status: job.status };
  const found: { readonly at: number; readonly job: DifferentJob }[] = [];
  for (const [key, job] of now.jobs) {
    const other = before.jobs.get(key);
    if (other?.status === job.status && other.handled === job.handled) continue;
    const { step, scope } = job;
    found.push({
      at: job.startedAt ?? Number.POSITIVE_INFINITY,
      job: { step, scope, run: shown(job), other: shown(other) },
    });
  }
  for (const [key, { step, scope, id, status }] of before.jobs)
    if (!now.jobs.has(key))
      found.push({
        at: Number.POSITIVE_INFINITY,
        job: { step, scope, run: null, other: { job_id: id, status } },
      });
  // What never began follows from what did.
  return found.sort((a, b) => (a.at === b.at ? 0 : a.at - b.at)).map(({ job }) => job);
}
