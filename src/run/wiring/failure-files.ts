import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { type SelfHealRecord, selfHealRecord } from "../../core/failure/self-heal-record.js";
import type { Event, HealStrategy, LoggedEvent } from "../../core/model/events.js";
import type { Failure } from "../../core/model/failure.js";
import { JOB_IDS_PER_RUN, type Job, jobById, type Run } from "../../core/model/run.js";
import { iso } from "../../core/text/iso-time.js";
import type { FailureKeeper } from "../engine/engine-options.js";
import {
  type AttemptName,
  failureArtifact,
  logFile,
  outputFolder,
  selfHealArtifact,
} from "../worker/attempt-paths.js";

type Climbed = Extract<Event, { type: "ladder.climbed" }>;

/**
 * The failure artifact: a file for each failure that nothing gentler than a transition has answered, with the error and
 * what the ladder made of it. Made of events alone, which are redacted: so nothing stands in it that may not.
 */
export class FailureFiles implements FailureKeeper {
  /** Failures on their way up. What follows from a climb may have put the job itself back to its beginning. */
  private readonly climbing = new WeakMap<Job, Failure>();

  constructor(private readonly outputDir: string) {}

  plan(run: Run, events: readonly Event[]): (() => void) | null {
    const writes: (() => void)[] = [];
    for (const event of events) {
      if (event.type === "attempt.failed" || event.type === "if.failed")
        this.climbing.set(jobById(run, event.job), event.error);
      if (event.type !== "ladder.climbed" || event.failure_route === null) continue;
      const job = jobById(run, event.job);
      writes.push(this.writing(run, event, this.climbing.get(job) ?? job.error));
    }
    return writes.length === 0 ? null : () => writes.forEach((write) => void write());
  }

  private writing(run: Run, event: Climbed, error: Failure | null): () => void {
    const { job: jobId, attempt, rung, considered, recovery, failure_route } = event;
    const { step, scope } = jobById(run, jobId);
    const name = { workflowId: run.workflowId, runId: run.id, jobId, attempt };
    const content = {
      run_id: run.id,
      job_id: jobId,
      step: step.definition.id,
      scope: scope.id,
      attempt,
      error,
      stderr_log: this.logOf(name, "stderr", error?.stderr_tail),
      stdout_log: this.logOf(name, "stdout", error?.stdout_tail),
      rung,
      considered,
      recovery,
      failure_route,
    };
    return () => this.write(failureArtifact(this.outputDir, name), content);
  }

  /** An attempt that printed nothing may have left no log. */
  private logOf(name: AttemptName, stream: "stdout" | "stderr", tail = ""): string | null {
    const file = logFile(this.outputDir, name, stream);
    return tail === "" ? null : relative(outputFolder(this.outputDir), file);
  }

  private write(file: string, content: object): void {
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
    } catch (error) {
      // The log has all of it; a full disk must not stop the run.
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}

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
