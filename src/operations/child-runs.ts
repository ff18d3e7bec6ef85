import { setTimeout as delay } from "node:timers/promises";
import type { ChildRequest, ChildResult, ChildRuns } from "../action/workflow.js";
import { DarumaError } from "../core/errors.js";
import type { Json } from "../core/json.js";
import type { Store } from "../store/store.js";
import type { RunHandle } from "./daruma.js";
import type { RunReport } from "./run-report.js";

/** What child runs need of the engine that runs them. */
export interface ChildHost {
  readonly store: Store;
  startChild(request: ChildRequest): Promise<RunHandle>;
  resume(runId: number): Promise<RunHandle>;
  cancel(runId: number, reason: string): Promise<void>;
}

/** Children inside children; more is a file that runs itself. */
const MAX_CHILD_DEPTH = 16;

/** How soon a decision about a resting child is seen. */
const REST_POLL_MS = 250;

/** Child runs in the same engine. The host is given late: it is made after its actions. */
export class LocalChildRuns implements ChildRuns {
  private host: ChildHost | null = null;

  attach(host: ChildHost): void {
    this.host = host;
  }

  async run(request: ChildRequest, signal: AbortSignal): Promise<ChildResult> {
    const host = this.host!;
    const handle = (await this.unfinished(request)) ?? (await this.begin(request));
    const cancel = (): void =>
      void host.cancel(handle.runId, "the parent's step was stopped").catch(() => {});
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      return resultOf(await this.untilOver(await handle.result, signal));
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  private async begin(request: ChildRequest): Promise<RunHandle> {
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
    return host.startChild(request);
  }

  /** A child that is held or paused is not over: somebody will decide, and then it goes on here. */
  private async untilOver(report: RunReport, signal: AbortSignal): Promise<RunReport> {
    const host = this.host!;
    for (let last = report; ; ) {
      if (last.finished_at !== null || signal.aborted) return last;
      await delay(REST_POLL_MS, undefined, { signal }).catch(() => {});
      const run = await host.store.readRun(report.run_id);
      if (run === null || signal.aborted) return last;
      if (run.status === "running" || run.finished_at !== null) last = (await this.goOn(run.id)) ?? last;
    }
  }

  /** Null: whoever has just decided still holds the run; it is looked at again. */
  private async goOn(runId: number): Promise<RunReport | null> {
    try {
      return await (await this.host!.resume(runId)).result;
    } catch (error) {
      if (error instanceof DarumaError && error.code === "RUN_OWNED") return null;
      throw error;
    }
  }

  /** The engine died while the child ran: the same child goes on. */
  private async unfinished(request: ChildRequest): Promise<RunHandle | null> {
    const host = this.host!;
    const [last] = await host.store.listRuns({ parentJob: request.parent.jobId, limit: 1 });
    return last === undefined || last.finished_at !== null ? null : host.resume(last.id);
  }
}

function resultOf(report: RunReport): ChildResult {
  const outputs: { [step: string]: Json } = {};
  for (const job of report.jobs)
    if (job.scope === "root" && job.status === "completed") outputs[job.step] = job.output;
  return { runId: report.run_id, status: report.status, outputs, error: report.error };
}
