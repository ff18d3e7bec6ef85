import { DarumaError } from "../core/errors.js";
import type { ReusedJob } from "../core/events.js";
import type { Graph } from "../core/graph.js";
import { isAncestor } from "../core/graph.js";
import type { Run } from "../core/run.js";

/**
 * What a run forked at `step` need not do again: every completed job that neither is the step nor depends on it, as
 * long as the (perhaps newer) workflow still has its step.
 */
export function reusableJobs(old: Run, step: string, graph: Graph): ReusedJob[] {
  const from = graph.byId.get(step);
  if (from === undefined) throw new DarumaError("STEP_NOT_FOUND", `the workflow has no step ${step}`);
  const reused: ReusedJob[] = [];
  for (const job of old.jobs) {
    const now = graph.byId.get(job.step.definition.id);
    if (now === undefined || now === from || isAncestor(from, now)) continue;
    if (job.status !== "completed" || job.output === null || !job.scope.open) continue;
    if (now.definition.usesWorkspace) throw notWithFiles(step, now.definition.id);
    reused.push({ scope: job.scope.id, step: job.step.definition.id, output: job.output, items: job.items });
  }
  return reused;
}

/** Its output could be taken over, but what it did to the files is in the other run's workspace. */
function notWithFiles(from: string, kept: string): DarumaError {
  return new DarumaError(
    "WORKSPACE_FORK",
    `a fork at ${from} would not have the files that ${kept} has left in the workspace of the run`,
  );
}
