import { jobById } from "../core/model/run.js";
import type { Daruma } from "../host/daruma.js";
import { jobName } from "../tell/lookup/job-name.js";
import type { Progress } from "./render/progress.js";
import { StepOutput } from "./render/step-output.js";

/** Shows every line that a step prints in this process, with the name of its job. */
export function showOutput(daruma: Daruma, progress: Progress): void {
  const output = new StepOutput((name, lines) => progress.printed(name, lines));
  const names = new Map<number, string>();
  daruma.onCommitted((run, events) => {
    for (const { event } of events)
      if (event.type === "attempt.started") names.set(event.job, jobName(jobById(run, event.job)));
  });
  daruma.onOutput(({ jobId, step, recovery, stream, bytes }) => {
    const key = `${jobId} ${stream} ${recovery}`;
    const name = `${names.get(jobId) ?? step}${recovery ? " (recovery)" : ""}`;
    if (bytes === null) output.end(key, name);
    else output.take(key, name, bytes);
  });
}
