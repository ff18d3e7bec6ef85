import { isInRecovery, type Job, type Run } from "../../core/model/run.js";
import { HUMAN, isLocalWorker } from "../../core/model/worker-names.js";
import type { HeldAttempt } from "../worker.js";
import { needsOf } from "./needs.js";

/** The attempts and recovery scripts that an earlier owner left running. */
export function heldAttempts(run: Run): HeldAttempt[] {
  const held = [...run.running].map((job) => heldBy(run, job, job.attemptToken ?? "", false));
  for (const job of run.jobs) if (isInRecovery(job)) held.push(heldBy(run, job, job.recovery!.token, true));
  return held;
}

function heldBy(run: Run, job: Job, token: string, recovery: boolean): HeldAttempt {
  const { id: runId, workflowId } = run;
  const { needs } = needsOf(job, run.definition);
  return {
    runId,
    workflowId,
    jobId: job.id,
    attempt: job.attempt,
    token,
    worker: job.attemptWorker ?? "",
    at: job.attemptPlace,
    recovery,
    maxLogBytes: run.definition.maxLogBytes,
    needs: recovery ? { ...needs, slots: 0, cpus: 0, memoryBytes: 0, gpus: 0 } : needs,
  };
}

/** Whether it may continue although the engine that started it is gone. */
export function mayGoOn({ worker }: HeldAttempt): boolean {
  return worker !== "" && worker !== HUMAN && !isLocalWorker(worker);
}

/** Recovery scripts and workspace rebuilds in progress: a name for each, and its job. */
export function sideWork({ jobs, workspace: { rebuild } }: Run): ReadonlyMap<string, number> {
  const work = new Map<string, number>();
  for (const { id, recovery } of jobs.filter(isInRecovery))
    work.set(`script ${id} ${recovery!.attempt} ${recovery!.tries}`, id);
  if (rebuild !== null && !rebuild.built) work.set(`workspace ${rebuild.id}`, rebuild.job.id);
  return work;
}

/** The jobs of work that is in progress now but was not before. */
export function begunSince(before: ReadonlyMap<string, number>, run: Run): number[] {
  return [...sideWork(run)].flatMap(([name, job]) => (before.has(name) ? [] : [job]));
}
