import { cascade } from "./cascade.js";
import type { Decision } from "./decision.js";
import { gateState } from "./gate.js";
import { isOver, type Job, type Run } from "./run.js";

/** How many blocked jobs a STALLED message names. */
const STALL_DUMP_JOBS = 20;

/** Nothing ready, running, waiting or recovering, no expression, list or barrier open. */
function isQuiescent(run: Run): boolean {
  return run.busy === 0 && run.barriers.size === 0;
}

/** End the run if nothing can go on: skip what nobody routed to, and if that starts nothing, say how it went. */
export function endIfQuiescent(decision: Decision): void {
  const { run } = decision;
  if (isOver(run) || run.status === "pending" || !isQuiescent(run)) return;
  if (run.cancelRequested !== null)
    return decision.emit({ type: "run.canceled", reason: run.cancelRequested.reason });
  skipUnrouted(decision);
  if (!isQuiescent(run)) return;
  const blocked = run.jobs.filter((job) => job.status === "blocked");
  if (blocked.length > 0)
    return decision.emit({
      type: "run.failed",
      code: "STALLED",
      message: describeStall(blocked),
      unhandled: [],
    });
  conclude(decision);
}

function skipUnrouted(decision: Decision): void {
  const unrouted = decision.run.jobs.filter(
    (job) => job.status === "blocked" && job.step.definition.start === "routed",
  );
  if (unrouted.length === 0) return;
  decision.emit({
    type: "jobs.skipped",
    jobs: unrouted.map((job) => job.id),
    reason: "nothing routed to it",
  });
  cascade(decision, unrouted);
}

function conclude(decision: Decision): void {
  const { run } = decision;
  const failed = [...run.failed];
  const unhandled = failed.filter((job) => !isHandled(job));
  if (run.fatal !== null) {
    return decision.emit({ type: "run.failed", ...run.fatal, unhandled: unhandled.map((job) => job.id) });
  }
  const first = unhandled.find((job) => job.partOf === null) ?? unhandled[0];
  if (first === undefined)
    return decision.emit({ type: "run.completed", handled: failed.map((job) => job.id) });
  const code = first.failure?.code ?? "UNKNOWN";
  const message = `${first.step.definition.id}: ${first.failure?.message ?? "failed"}`;
  decision.emit({ type: "run.failed", code, message, unhandled: unhandled.map((job) => job.id) });
}

/** The failure of a repair step counts with that of the step it was to repair. */
export function isHandled(job: Job): boolean {
  if (job.handled !== null) return true;
  return job.partOf !== null && (job.partOf.status !== "failed" || isHandled(job.partOf));
}

function describeStall(blocked: readonly Job[]): string {
  const lines = blocked.slice(0, STALL_DUMP_JOBS).map((job) => {
    const gate = job.gate;
    return `${job.step.definition.id} in ${job.scope.id}: gate ${gateState(gate)}, ${gate.unmet} groups unmet, visit ${job.visit}`;
  });
  return `${blocked.length} jobs are blocked and nothing runs: ${lines.join("; ")}`;
}
