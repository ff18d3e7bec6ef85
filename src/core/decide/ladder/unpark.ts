import type { RungConsidered, UnparkReason } from "../../model/events.js";
import { findJob, type Job } from "../../model/run.js";
import type { Decision } from "../decision.js";
import { climb } from "./ladder.js";

/** The jobs among these that are parked go on: ready, or up the ladder from the next rung where the breaker is spent. */
export function unpark(
  decision: Decision,
  ids: readonly number[],
  breaker: string,
  because: UnparkReason,
): void {
  const jobs = ids.flatMap((id) => findJob(decision.run, id) ?? []).filter(({ parked }) => parked !== null);
  if (jobs.length === 0) return;
  const unparked = jobs.map(({ id }) => id);
  decision.emit({ type: "jobs.unparked", jobs: unparked, breaker, because });
  if (because !== "spent") return decision.emit({ type: "jobs.ready", jobs: unparked, reason: "breaker" });
  for (const job of jobs) decision.add(() => climbOn(decision, job, breaker));
}

function climbOn(decision: Decision, job: Job, breaker: string): void {
  // The failure of another one among them may have ended the run.
  if (job.status !== "recovering") return;
  const passed: RungConsidered = {
    rung: "park",
    applied: false,
    kind: "breaker_spent",
    reason: `${breaker} was open for as long as it may be (max_open)`,
  };
  climb(decision, job, [...job.climbed.slice(0, -1), passed]);
  decision.add({ kind: "barriers" });
}
