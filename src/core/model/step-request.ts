import type { Event } from "./events.js";
import { type Job, jobById, type Run } from "./run.js";

/** What somebody last asked to be done about one step, so that it gets up again. */
export interface StepRequest {
  readonly action: "retry_step" | "hard_reset_step" | "resume_from_step" | "redrive";
  readonly job: Job;
  readonly at: number;
}

export function noteStepRequest(run: Run, event: Event, at: number): void {
  switch (event.type) {
    case "jobs.retried": {
      // A reset or a decision is about many steps, or about what the step's failure means.
      if (event.action === "reset" || event.action === "recover" || event.action === "resolve") return;
      run.stepRequest = { action: event.action, job: jobById(run, event.jobs[0]!), at };
      return;
    }
    case "operator.goto":
      run.stepRequest = { action: "resume_from_step", job: jobById(run, event.target), at };
      return;
    case "reset.reserved": {
      const job = jobById(run, event.job);
      const asked = run.stepRequest;
      // The reset that a redrive brings with it was not asked for by itself.
      const isPartOf = asked?.action === "redrive" && asked.job === job && event.key === null;
      if (event.trigger === "operator" && !isPartOf) run.stepRequest = { action: "hard_reset_step", job, at };
      return;
    }
  }
}
