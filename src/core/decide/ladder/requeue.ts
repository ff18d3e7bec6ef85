import { retryDelayMs } from "../backoff.js";
import { pass, type Rung } from "./rung.js";

/** Later, from the checkpoints, while the queue has attempts left for this job and the class is one that time may heal. */
export const requeueRung: Rung = {
  name: "requeue",
  triesAgain: true,
  consider({ run, job, failure, now, decision }) {
    const { queue } = run.definition;
    if (!queue) return pass("the file has no queue");
    if (run.options.only !== null) return pass("one attempt of one step was asked for");
    if (!run.options.failureRouting) return pass("failure routing is off");
    if (job.visitFor?.role === "remediation")
      return pass("the failure of a remediation step belongs to the step it was to repair");
    if (!queue.classes.includes(failure.class)) return pass(`${failure.class} is not among queue.classes`);
    if (failure.final) return pass("the step said that trying again is useless");
    const { requeues } = job.queue;
    if (requeues + 1 >= queue.maxAttempts) {
      return {
        kind: "pass",
        reason: `no rounds of the queue left (${queue.maxAttempts} used): a dead letter`,
        mark: () =>
          decision.emit({
            type: "job.dead_lettered",
            job: job.id,
            attempt: job.attempt,
            code: failure.code,
            queueAttempts: requeues + 1,
          }),
      };
    }
    const requeue = requeues + 1;
    const delayMs = retryDelayMs(queue.backoff, failure, requeue, {
      run: run.id,
      job: job.id,
      attempt: job.attempt,
    });
    const max = queue.maxAttempts - 1;
    const reason = `${failure.code} (${failure.class}): requeue ${requeue} of ${max} in ${delayMs} ms`;
    return {
      kind: "act",
      reason,
      act: () =>
        decision.emit({
          type: "requeue.scheduled",
          job: job.id,
          attempt: job.attempt,
          requeue,
          max,
          delayMs,
          dueAt: now + delayMs,
          reason,
        }),
    };
  },
};
