import type { EarlierFiles } from "../core/failure/why-asked.js";
import { openFailureOf } from "../core/model/led-by.js";
import type { Job, Run } from "../core/model/run.js";

/** What became of the changes that the job's earlier attempts had made in the workspace; null: there are none, or no workspace. */
export function earlierFilesOf(_run: Run, job: Job): EarlierFiles | null {
  if (!job.step.definition.usesWorkspace) return null;
  const led = openFailureOf(job);
  const change = led?.earlier.at(-1)?.change ?? null;
  if (led === null || led.route === "remediate" || change === null) return null;
  return { state: "taken_back", files: change.files, attempts: [], patch: null };
}
