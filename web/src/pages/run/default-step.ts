import { nameOf } from "../../../../src/tell/lookup/job-name.js";
import type { RunSummary } from "./run-data.js";

/** The step that most needs attention. Holds of child runs are left out, because their steps belong to those runs. */
export function defaultStep({
  run_id,
  summary,
  handled_failures,
}: Pick<RunSummary, "run_id" | "summary" | "handled_failures">): string | null {
  const holds = summary.holds.filter((hold) => hold.run_id === run_id);
  const [job] = [...holds, ...summary.failures, ...handled_failures];
  return job === undefined ? null : nameOf(job.step, job.scope);
}
