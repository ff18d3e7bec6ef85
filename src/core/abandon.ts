import type { Decision } from "./decision.js";
import type { StopReason } from "./events.js";
import { closeBarriersThatAreDone } from "./goto.js";
import { isSettled, type Scope, scopesUnder } from "./run.js";

/** Give up everything unsettled in a scope and under it: what waits is canceled, what runs is being ended. */
export function abandonScope(
  decision: Decision,
  scope: Scope,
  because: StopReason,
  code: string,
  reason: string,
): void {
  const canceled: number[] = [];
  const stopping: number[] = [];
  for (const inner of scopesUnder(scope)) {
    for (const job of inner.jobs.values()) {
      if (isSettled(job.status)) continue;
      (job.status === "running" ? stopping : canceled).push(job.id);
    }
  }
  decision.emit({ type: "scope.abandoned", scope: scope.id, because, code, reason, canceled, stopping });
  closeBarriersThatAreDone(decision);
}
