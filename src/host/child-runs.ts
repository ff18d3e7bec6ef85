import { setTimeout as delay } from "node:timers/promises";
import { DarumaError } from "../core/errors/errors.js";
import type { RunCause, UncleanChild } from "../core/model/events.js";
import type { Json } from "../core/text/json.js";
import type { ChildRequest, ChildResult, ChildRuns } from "../run/action/workflow.js";
import { isAtRest } from "../run/engine/rest-below.js";
import type { Store } from "../store/store.js";
import { type RunReport, reportRun } from "../tell/run-report.js";
import { countHandled } from "../tell/words/handled-text.js";
import type { RunHandle } from "./run-handle.js";

/** What child runs need of the engine that runs them. */
export interface ChildHost {
  readonly store: Store;
  /** The store has one run of a cause. */
  startChild(request: ChildRequest, cause: RunCause): Promise<RunHandle>;
  resume(runId: number): Promise<RunHandle>;
  cancel(runId: number, reason: string): Promise<void>;
  /** This engine has the run. */
  has(runId: number): boolean;
  /** The child run for which this step waits rests; null: it no longer does. */
  noteRest(parent: ChildRequest["parent"], child: number | null): void;
}

/** Children inside children; more is a file that runs itself. */
const MAX_CHILD_DEPTH = 16;

/** How soon a decision about a resting child is seen. */
const REST_POLL_MS = 250;

/** `result` is null where somebody else has the run. */
interface Child {
  readonly runId: number;
  readonly result: Promise<RunReport> | null;
}

/** Child runs, in the same engine unless another server has taken one for want of a worker here. The host is given late: it is made after its actions. */
export class LocalChildRuns implements ChildRuns {
  private host: ChildHost | null = null;

  attach(host: ChildHost): void {
    this.host = host;
  }

  async run(request: ChildRequest, signal: AbortSignal): Promise<ChildResult> {
    const host = this.host!;
    const child = (await this.madeBefore(request, signal)) ?? (await this.begin(request));
    // If the attempt ends with its engine, the process that resumes the run repeats it, and it continues with the
    // child.
    const cancel = (): void => {
      if (host.has(request.parent.runId))
        void host.cancel(child.runId, "the parent's step was stopped").catch(() => {});
    };
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      return resultOf(await this.untilOver(child, request, signal));
    } finally {
      host.noteRest(request.parent, null);
      signal.removeEventListener("abort", cancel);
    }
  }

  private async begin(request: ChildRequest): Promise<Child> {
    const host = this.host!;
    let depth = 1;
    for (let at = await host.store.readRun(request.parent.runId); at?.parent != null; depth += 1) {
      at = await host.store.readRun(at.parent.run_id);
    }
    if (depth >= MAX_CHILD_DEPTH) {
      throw new DarumaError("CYCLE", `${request.file} would be child run number ${depth} inside another`, {
        hint: "A workflow must not run itself, directly or through others.",
      });
    }
    try {
      return await host.startChild(request, causeOf(request));
    } catch (error) {
      // An engine that has lost the parent, and does not know it yet, was faster.
      const other = isOwned(error) ? await this.ofSameCause(request) : null;
      if (other === null) throw error;
      return { runId: other, result: null };
    }
  }

  /**
   * A child that is held or paused is not over: somebody will decide, and then it goes on here. Nor is one that a server
   * with a worker for it has taken.
   */
  private async untilOver(
    { runId, result }: Child,
    { parent }: ChildRequest,
    signal: AbortSignal,
  ): Promise<RunReport> {
    const { store } = this.host!;
    for (let last = result === null ? null : await unlessElsewhere(result, signal); ; ) {
      if (last !== null && (last.finished_at !== null || signal.aborted)) return last;
      if (signal.aborted) return reportRun(store, runId);
      const run = await store.readRun(runId);
      if (run === null) return last ?? reportRun(store, runId);
      if (signal.aborted) continue;
      this.host!.noteRest(parent, isAtRest(run.status) ? runId : null);
      const goesOn = run.status === "running" || run.finished_at !== null;
      last = (goesOn ? await this.goOn(runId, signal) : null) ?? last;
      if (last === null || last.finished_at === null)
        await delay(REST_POLL_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Continues the child run. Null if somebody else has it, so that it must be checked again. */
  private async goOn(runId: number, signal: AbortSignal): Promise<RunReport | null> {
    const { result } = await this.takeUp(runId);
    return result === null ? null : unlessElsewhere(result, signal);
  }

  /**
   * The child that a lost attempt made, also one that is over: its outcome is that of the step, and a second child would do
   * its work again. Children of earlier attempts are past, but for one that still goes on: somebody has reopened it.
   */
  private async madeBefore(request: ChildRequest, signal: AbortSignal): Promise<Child | null> {
    const { store } = this.host!;
    const own = await this.ofSameCause(request);
    if (own !== null) return this.takeUp(own);
    const [last] = await store.listRuns({ parentJob: request.parent.jobId, limit: 1 });
    if (last === undefined || last.finished_at !== null) return null;
    if (!(await this.wasGivenUp(request))) return this.takeUp(last.id);
    await this.host!.cancel(last.id, "the parent's step was stopped").catch(unlessOver);
    await this.untilOver(await this.takeUp(last.id), request, signal);
    return null;
  }

  private async ofSameCause(request: ChildRequest): Promise<number | null> {
    const [run] = await this.host!.store.listRuns({ cause: causeOf(request).mark, limit: 1 });
    return run?.id ?? null;
  }

  /**
   * Whether the previous attempt was stopped, as for a goto, and the process that should have canceled its child died
   * first.
   */
  private async wasGivenUp({ parent }: ChildRequest): Promise<boolean> {
    const attempts = await this.host!.store.readAttempts(parent.runId, parent.jobId);
    return attempts.some(({ attempt, status }) => attempt === parent.attempt - 1 && status === "stopped");
  }

  private async takeUp(runId: number): Promise<Child> {
    try {
      return await this.host!.resume(runId);
    } catch (error) {
      if (isOwned(error)) return { runId, result: null };
      throw error;
    }
  }
}

/** Whatever else an attempt passes to its child may change; which attempt it is for does not. */
function causeOf({ parent: { jobId, attempt } }: ChildRequest): RunCause {
  return { mark: `child/${jobId}/${attempt}`, request: null };
}

function isOwned(error: unknown): boolean {
  return error instanceof DarumaError && error.code === "RUN_OWNED";
}

function unlessOver(error: unknown): void {
  if (!(error instanceof DarumaError && error.code === "RUN_OVER")) throw error;
}

/**
 * Null if this engine lost the run to another. A stopping engine loses all its runs, but then the attempt was ended,
 * too.
 */
async function unlessElsewhere(result: Promise<RunReport>, signal: AbortSignal): Promise<RunReport | null> {
  try {
    return await result;
  } catch (error) {
    if (signal.aborted || !(error instanceof DarumaError && error.code === "LEASE_LOST")) throw error;
    return null;
  }
}

function resultOf(report: RunReport): ChildResult {
  const outputs: { [step: string]: Json } = {};
  for (const job of report.jobs)
    if (job.scope === "root" && job.status === "completed") outputs[job.step] = job.output;
  return {
    runId: report.run_id,
    status: report.status,
    outputs,
    below: uncleanIn(report),
    error: report.error,
  };
}

function uncleanIn(report: RunReport): UncleanChild | null {
  if (report.status !== "completed") return null;
  const handled = countHandled(report);
  const decided = report.handled_in_children.reduce(
    (sum, child) => sum + child.decided.length,
    report.decided.length,
  );
  return handled + decided === 0 ? null : { run_id: report.run_id, handled, decided };
}
