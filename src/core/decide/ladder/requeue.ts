import { durationAmount } from "../../text/amount-text.js";
import { retryDelayMs } from "../backoff.js";
import { OF_REMEDIATION, pass, type Rung, USELESS } from "./rung.js";

/** Later, from the checkpoints, while the queue has attempts left for this job and the class is one that time may heal. */
export const requeueRung: Rung = {
  name: "requeue",
  triesAgain: true,
  turnedOffBy: "routing",
  unconcerned: ({ run }) => (!run.definition.queue ? pass("not_configured", "the file has no queue") : null),
  consider({ run, job, failure, now, decision }) {
    const queue = run.definition.queue!;
    if (job.visitFor?.role === "remediation") return OF_REMEDIATION;
    if (!queue.classes.includes(failure.class))
      return pass("class_not_queued", `${failure.class} is not in queue.classes`);
    if (failure.final) return USELESS;
    const { requeues } = job.queue;
    if (requeues + 1 >= queue.maxAttempts) {
      return {
        ...pass("no_rounds_left", `no queue rounds left (${queue.maxAttempts} used); it is a dead letter`),
        mark: () =>
          decision.emit({
            type: "job.dead_lettered",
            job: job.id,
            attempt: job.attempt,
            code: failure.code,
            queue_attempts: requeues + 1,
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
    const reason = `${failure.code} (${failure.class}): requeue ${requeue} of ${max} in ${durationAmount(delayMs)}`;
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
          delay_ms: delayMs,
          due_at: now + delayMs,
          reason,
        }),
    };
  },
};
