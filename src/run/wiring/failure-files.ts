import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import type { Event } from "../../core/model/events.js";
import type { Failure } from "../../core/model/failure.js";
import { type Job, jobById, type Run } from "../../core/model/run.js";
import type { FailureKeeper } from "../engine/failure-keeper.js";
import { type AttemptName, failureArtifact, logFile, outputFolder } from "../worker/attempt-paths.js";

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
