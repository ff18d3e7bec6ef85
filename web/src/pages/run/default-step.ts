import { nameOf } from "../../../../src/report/lookup/job-name.js";
import type { RunSummary } from "./run-data.js";

/** The step that most needs a look. */
export function defaultStep({
  summary,
  handled_failures,
}: Pick<RunSummary, "summary" | "handled_failures">): string | null {
  const [job] = [...summary.holds, ...summary.failures, ...handled_failures];
  return job === undefined ? null : nameOf(job.step, job.scope);
}
