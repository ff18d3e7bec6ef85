import { isInRecovery, type Job, type Run } from "../core/run.js";
import { isLocalWorker } from "../core/worker-names.js";
import type { HeldAttempt } from "../worker/worker.js";
import { HUMAN } from "./human-step.js";
import { needsOf } from "./needs.js";

/** What an earlier owner had under way: attempts and recovery scripts. */
export function heldAttempts(run: Run): HeldAttempt[] {
  const held = [...run.running].map((job) => heldBy(run, job, job.attemptToken ?? "", false));
  for (const job of run.jobs) if (isInRecovery(job)) held.push(heldBy(run, job, job.recovery!.token, true));
  return held;
}

function heldBy(run: Run, job: Job, token: string, recovery: boolean): HeldAttempt {
  const { id: runId, workflowId } = run;
  const { needs } = needsOf(job.step.definition);
  return {
    runId,
    workflowId,
    jobId: job.id,
    attempt: job.attempt,
    token,
    worker: job.attemptWorker ?? "",
    recovery,
    needs: recovery ? { ...needs, slots: 0, cpus: 0, memoryBytes: 0 } : needs,
  };
}

/** It may go on though the engine that began it is gone. */
export function mayGoOn({ worker }: HeldAttempt): boolean {
  return worker !== "" && worker !== HUMAN && !isLocalWorker(worker);
}
