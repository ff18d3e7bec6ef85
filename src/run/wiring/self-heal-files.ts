import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type SelfHealRecord, selfHealRecord } from "../../core/failure/self-heal-record.js";
import type { Event, HealStrategy, LoggedEvent } from "../../core/model/events.js";
import { JOB_IDS_PER_RUN, jobById, type Run } from "../../core/model/run.js";
import { iso } from "../../core/text/iso-time.js";
import { selfHealArtifact } from "../worker/attempt-paths.js";

/** What became of a failed attempt, beside what its event says. */
interface FailedAttempt extends SelfHealRecord {
  readonly code: string;
  readonly originalClass: string | null;
  readonly changedFiles: readonly string[];
  /** The next thing that was tried; null until it is decided, or if nothing was. */
  readonly strategy: HealStrategy | null;
  readonly exhausted: boolean;
  readonly at: string;
}

/**
 * Leaves a file for each failed attempt of a step that self-heal watches. Made of committed events alone, which are
 * redacted: so nothing stands in it that may not.
 */
export class SelfHealFiles {
  /** By job: its last failure, until the answer to it is decided. */
  private readonly open = new Map<number, FailedAttempt>();

  constructor(private readonly outputDir: string) {}

  take(run: Run, events: readonly LoggedEvent[]): void {
    for (const { event, at } of events) {
      if (event.type === "attempt.failed") this.begin(run, event, at);
      else this.follow(run, event);
    }
  }

  private begin(run: Run, event: Extract<Event, { type: "attempt.failed" }>, at: number): void {
    const { usesWorkspace, noProgressLimit } = jobById(run, event.job).step.definition;
    if (!usesWorkspace && typeof noProgressLimit !== "number") return;
    const { code, original_class: originalClass, changed_files: changedFiles = [] } = event.error;
    this.write(run, event.job, {
      ...selfHealRecord(run, event)!,
      code,
      originalClass,
      changedFiles,
      exhausted: false,
      at: iso(at),
    });
  }

  private follow(run: Run, event: Event): void {
    const failed = "job" in event ? this.open.get(event.job) : undefined;
    if (failed === undefined) return;
    const { job } = event as { readonly job: number };
    const record = selfHealRecord(run, event);
    if (record?.type.startsWith("task.self_heal.")) {
      const exhausted = record.type === "task.self_heal.exhausted";
      this.write(run, job, { ...failed, strategy: exhausted ? null : record.strategy, exhausted });
    }
    if (event.type === "attempt.started" || event.type === "job.failed") this.open.delete(job);
  }

  private write(run: Run, job: number, failed: FailedAttempt): void {
    this.open.set(job, failed);
    const place = { step: job - run.id * JOB_IDS_PER_RUN, attempt: failed.attempt };
    const file = selfHealArtifact(this.outputDir, run.id, place);
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, `${JSON.stringify(shown(failed), null, 2)}\n`, { mode: 0o600 });
    } catch (error) {
      // The log has all of it; a full disk must not stop the run.
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}

function shown({ type, attempt, strategy, code, exhausted, at, ...failed }: FailedAttempt) {
  return {
    type,
    step_id: failed.stepId,
    step_index: failed.stepIndex,
    attempt,
    failure_class: failed.failureClass,
    failure_signature: failed.failureSignature,
    diff_hash: failed.diffHash,
    strategy,
    code,
    original_class: failed.originalClass,
    changed_files: failed.changedFiles,
    exhausted,
    at,
  };
}
