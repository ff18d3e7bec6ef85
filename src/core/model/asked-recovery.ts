import type { Event } from "./events.js";
import { type Job, jobById, type Run } from "./run.js";

/** What somebody last asked to be done about one step, so that it gets up again. */
export interface AskedRecovery {
  readonly action: "retry_step" | "hard_reset_step" | "resume_from_step" | "redrive";
  readonly job: Job;
  readonly at: number;
}

export function noteAskedRecovery(run: Run, event: Event, at: number): void {
  switch (event.type) {
    case "jobs.retried": {
      // A reset or a decision is about many steps, or about what the step's failure means.
      if (event.action === "reset" || event.action === "resolve") return;
      run.askedRecovery = { action: event.action, job: jobById(run, event.jobs[0]!), at };
      return;
    }
    case "operator.goto":
      run.askedRecovery = { action: "resume_from_step", job: jobById(run, event.target), at };
      return;
    case "reset.reserved": {
      const job = jobById(run, event.job);
      const asked = run.askedRecovery;
      // The reset that a redrive brings with it was not asked for by itself.
      const isPartOf = asked?.action === "redrive" && asked.job === job && event.key === null;
      if (event.trigger === "operator" && !isPartOf)
        run.askedRecovery = { action: "hard_reset_step", job, at };
      return;
    }
  }
}
