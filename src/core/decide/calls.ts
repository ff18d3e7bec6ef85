import { calledSince, callsOf, isProgram, MAP, WAIT } from "../model/flow.js";
import { isSettled, type Job, type Run } from "../model/run.js";
import { abandonJob } from "./abandon.js";
import type { Decision } from "./decision.js";

/** The program is over: nobody waits any longer for what it has called and not awaited. */
export function endCalls(decision: Decision, program: Job): void {
  if (!isProgram(program)) return;
  for (const job of callsOf(decision.run, program))
    decision.add(() => {
      if (!isSettled(job.status)) abandonJob(decision, job, "flow_ended", "the program has ended");
    });
}

/** What runs again with these: a program with what it has called, and what its program failed of with the program. */
export function withTheirProgram(run: Run, asked: readonly Job[]): { jobs: Job[]; waiting: Job[] } {
  const jobs = new Set(asked);
  const waiting = new Set<Job>();
  for (const { call } of asked) if (call !== null && isSettled(call.by.status)) jobs.add(call.by);
  for (const program of [...jobs]) {
    if (!isProgram(program)) continue;
    const cause = program.program?.because ?? null;
    if (cause?.status === "failed" && calledSince(run, cause).length === 0) jobs.add(cause);
    for (const job of callsOf(run, program))
      if (job.status === "canceled" && !jobs.has(job)) waiting.add(job);
  }
  return { jobs: [...jobs], waiting: [...waiting] };
}

/** Trying it again changes an outcome that its program knows: everything called since begins again. */
export function mustGoBack(run: Run, job: Job): boolean {
  if (job.call === null || (job.status !== "failed" && job.status !== "canceled")) return false;
  return !isSettled(job.call.by.status) || calledSince(run, job).length > 0;
}

/** Steps that have completed since and would begin again. */
export function doneSince(run: Run, job: Job): Job[] {
  return calledSince(run, job).filter(
    ({ status, step: { definition } }) =>
      status === "completed" && definition.action.type !== WAIT && definition.action.type !== MAP,
  );
}

/** What a way back to this job takes along: its program, and all that it has called since. */
export function* behindCall(run: Run, job: Job): Generator<Job> {
  if (isProgram(job)) {
    for (const each of callsOf(run, job)) if (each.status === "canceled") yield each;
    return;
  }
  if (job.call === null) return;
  yield job.call.by;
  yield* calledSince(run, job);
}
