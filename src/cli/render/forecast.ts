import type { LoggedEvent } from "../../core/model/events.js";
import type { GraphStep } from "../../core/model/graph.js";
import { isSettled, type Job, jobById, type Run } from "../../core/model/run.js";
import type { Client } from "../../operations/client.js";

/** How long a step took in an earlier run. */
export interface UsualTimes {
  /** The mean of one job, with all its attempts. */
  readonly eachMs: number;
  /** From the start of its first job to the end of its last. */
  readonly wholeMs: number;
}

interface Learnt {
  count: number;
  sumMs: number;
}

/** From this number of jobs on, the present run predicts a step better than an earlier run does. */
const ENOUGH = 3;

/**
 * Estimates how long a run will still take, from the times of its steps so far and in an earlier run. It gives no
 * estimate if something unpredictable is left: a step that never ran, a person, a breaker.
 */
export class Forecast {
  private readonly startedAt = new Map<number, number>();
  private readonly learnt = new Map<string, Learnt>();
  private usual: ReadonlyMap<string, UsualTimes> = new Map();
  private mostRunning = 1;

  /** Sets the usual times by step. */
  expect(usual: ReadonlyMap<string, UsualTimes>): void {
    this.usual = usual;
  }

  hear(run: Run, { at, event }: LoggedEvent): void {
    if (event.type === "attempt.started") this.startedAt.set(event.job, at);
    this.mostRunning = Math.max(this.mostRunning, run.running.size);
    if (event.type !== "attempt.succeeded") return;
    const startedAt = this.startedAt.get(event.job);
    this.startedAt.delete(event.job);
    if (startedAt === undefined) return;
    const { id } = jobById(run, event.job).step.definition;
    const learnt = this.learnt.get(id) ?? { count: 0, sumMs: 0 };
    this.learnt.set(id, { count: learnt.count + 1, sumMs: learnt.sumMs + Math.max(0, at - startedAt) });
  }

  /** Null if unpredictable, 0 if the run is overdue. */
  leftMs(run: Run, now: number): number | null {
    if (isUpToOthers(run)) return null;
    const left = this.leftBySteps(run, now);
    if (left === null) return null;
    const { sumMs, chainMs } = left;
    return Math.max(chainMs, sumMs / this.mostRunning);
  }

  private leftBySteps(run: Run, now: number): { readonly sumMs: number; readonly chainMs: number } | null {
    const jobs = new Map<GraphStep, { sumMs: number; mostMs: number }>();
    let sumMs = 0;
    for (const job of run.jobs) {
      if (!isAhead(job)) continue;
      const ms = this.leftOf(job, now);
      if (ms === null) return null;
      sumMs += ms;
      const alike = jobs.get(job.step) ?? { sumMs: 0, mostMs: 0 };
      jobs.set(job.step, { sumMs: alike.sumMs + ms, mostMs: Math.max(alike.mostMs, ms) });
    }
    const times = new Map<GraphStep, number>();
    for (const [step, { sumMs: all, mostMs }] of jobs)
      times.set(step, Math.max(mostMs, all / this.mostRunning));
    for (const step of stepsNotOpened(run)) {
      const usual = this.usual.get(step.definition.id);
      if (usual === undefined) return null;
      times.set(step, usual.wholeMs);
    }
    return { sumMs, chainMs: longestChain(run.graph.steps, times) };
  }

  private leftOf(job: Job, now: number): number | null {
    const { action, id } = job.step.definition;
    const whole = action.type === "noop" ? 0 : this.timeOf(id);
    if (whole === null) return null;
    const pause = job.dueAt === null ? 0 : Math.max(0, job.dueAt - now);
    const spent = job.status === "running" ? now - (job.attemptStartedAt ?? now) : 0;
    return pause + Math.max(0, whole - spent);
  }

  private timeOf(step: string): number | null {
    const { count, sumMs } = this.learnt.get(step) ?? { count: 0, sumMs: 0 };
    if (count >= ENOUGH) return sumMs / count;
    return this.usual.get(step)?.eachMs ?? (count > 0 ? sumMs / count : null);
  }
}

/** Whether a person, a breaker or another run decides when it goes on. */
function isUpToOthers(run: Run): boolean {
  const { paused, cancelRequested, held, asking, parked, status } = run;
  return (
    paused !== null ||
    cancelRequested !== null ||
    held.size + asking.size + parked.size > 0 ||
    status !== "running"
  );
}

/** Whether a job will probably run. Steps that only a failure leads to do not count. */
function isAhead(job: Job): boolean {
  if (!job.scope.open || isSettled(job.status)) return false;
  return job.step.definition.start === "auto" || job.entered;
}

/** Steps of fan-outs whose items are not known yet. */
function stepsNotOpened({ graph, scopes }: Run): GraphStep[] {
  if (graph.inItemsOf.size === 0) return [];
  const opened = new Set([...scopes.values()].map(({ opener }) => opener?.step));
  return graph.steps.filter(({ path, definition }) => {
    const opener = path.at(-1);
    return opener !== undefined && definition.start === "auto" && !opened.has(opener);
  });
}

/** The longest chain of dependent steps. It is iterative, so thousands of steps in a row do not overflow the stack. */
function longestChain(steps: readonly GraphStep[], times: ReadonlyMap<GraphStep, number>): number {
  const waiting = new Map(
    steps.map((step) => [step, step.groups.reduce((sum, { length }) => sum + length, 0)]),
  );
  const begins = new Map<GraphStep, number>();
  const open = steps.filter((step) => waiting.get(step) === 0);
  let longest = 0;
  for (const step of open) {
    const end = (begins.get(step) ?? 0) + (times.get(step) ?? 0);
    longest = Math.max(longest, end);
    for (const { step: next } of step.dependents) {
      begins.set(next, Math.max(begins.get(next) ?? 0, end));
      const left = waiting.get(next)! - 1;
      waiting.set(next, left);
      if (left === 0) open.push(next);
    }
  }
  return longest;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Formats an estimate as coarsely as it is uncertain. */
export function leftText(ms: number): string {
  if (ms === 0) return "longer than expected";
  if (ms < 10 * SECOND_MS) return "a few seconds left";
  if (ms < MINUTE_MS) return `about ${Math.ceil(ms / SECOND_MS / 10) * 10} s left`;
  if (ms < HOUR_MS) return `about ${Math.round(ms / MINUTE_MS)} min left`;
  const tens = Math.round(ms / MINUTE_MS / 10) * 10;
  const rest = tens % 60;
  return `about ${Math.floor(tens / 60)} h${rest === 0 ? "" : ` ${rest} min`} left`;
}

/** Reading the log of a larger run takes longer than an estimate is worth, and its own first jobs suffice. */
const MAX_JOBS = 5_000;

/** Reads how long the steps of a workflow took in its last completed run, by step. */
export async function readUsualTimes(
  client: Pick<Client, "call">,
  { workflow, id: before }: Pick<Run, "workflow" | "id">,
): Promise<ReadonlyMap<string, UsualTimes>> {
  const asked = { workflow, before, status: "completed", limit: 1 } as const;
  const [last] = (await client.call("list_runs", asked)).items;
  const jobs = Object.values(last?.jobs ?? {}).reduce((sum, count) => sum + count, 0);
  if (last === undefined || jobs > MAX_JOBS) return new Map();
  const { rows } = await client.call("get_timeline", { run_id: last.run_id });
  return new Map(
    rows.map(({ step, jobs: ofStep, busy_ms, from_ms, to_ms }) => [
      step,
      { eachMs: busy_ms / Math.max(1, ofStep), wholeMs: (to_ms ?? 0) - (from_ms ?? 0) },
    ]),
  );
}
