import { runError } from "../failure/error-record.js";
import { judgeEnd } from "../failure/judge.js";
import type { Event } from "../model/events.js";
import { beginVisit } from "../model/jobs.js";
import { hintIn } from "../model/led-by.js";
import { isQueued } from "../model/resting.js";
import { change, type Job, jobById, type Run } from "../model/run.js";
import { NO_TIME_USED } from "../model/time-used.js";

type Payload<T extends Event["type"]> = Extract<Event, { type: T }>;

export function endRun(
  run: Run,
  status: "completed" | "failed" | "canceled",
  error: Run["error"],
  at: number,
): void {
  run.status = status;
  run.error = error;
  run.finishedAt = at;
  markFailures(run);
}

/** The first of those that nothing handled is to blame, but for a repair step, which fails on behalf of another. */
export function failRun(run: Run, { code, message, unhandled }: Payload<"run.failed">, at: number): void {
  const alike = unhandled.map((id) => jobById(run, id)).filter((job) => job.failure?.code === code);
  const first = alike.find((job) => job.partOf === null) ?? alike[0];
  const blamed = first?.program?.because ?? first;
  endRun(run, "failed", runError(judgeEnd(code, message), blamed?.failure ?? null, at), at);
}

/** Whether a failure is handled depends on the job that its route led to, or that it was to repair, and both go on. */
export function markFailures(run: Run): void {
  for (const job of run.failed) run.dirty.add(job);
}

export function rememberKey(run: Run, key: string | null): void {
  if (key !== null) run.operatorKeys.add(key);
}

export function reopenRun(run: Run, event: Payload<"run.reopened">): void {
  run.status = "running";
  run.error = null;
  run.finishedAt = null;
  run.fatal = null;
  run.paused = null;
  run.cancelRequested = null;
  run.ending = null;
  run.timeUsed = NO_TIME_USED;
  rememberKey(run, event.key);
}

export function passTime(
  run: Run,
  event: Payload<"time.counted" | "time.stopped" | "time.warned">,
  at: number,
): void {
  const { timeUsed } = run;
  if (event.type === "time.warned") run.timeUsed = { ...timeUsed, warned: true };
  else if (event.type === "time.stopped")
    run.timeUsed = { ...timeUsed, usedMs: event.used_ms, counting: null };
  else {
    const { deadline_at: deadlineAt, warn_at: warnAt } = event;
    run.timeUsed = { ...timeUsed, counting: { since: at, deadlineAt, warnAt } };
  }
}

/**
 * Somebody may want a run that is being canceled to end at once; why it is canceled stays. One that has not started, such as one
 * that waits for its place in a group, always does: there is nothing to undo or finish.
 */
export function requestCancel(run: Run, event: Payload<"run.cancel_requested">): void {
  const { reason, code } = event;
  const now = run.startedAt === null ? true : event.now;
  run.cancelRequested = {
    reason,
    ...(code === undefined ? {} : { code }),
    ...run.cancelRequested,
    ...(now === undefined ? {} : { now }),
  };
  rememberKey(run, event.key);
}

/** A takeover may bring a hint for one of the run's jobs. */
export function pauseRun(run: Run, event: Payload<"run.paused">): void {
  run.paused = { takeover: event.takeover };
  run.status = "paused";
  if (event.job !== undefined) jobById(run, event.job).hint = hintIn(event);
  rememberKey(run, event.key);
}

export function unpauseRun(run: Run, event: Payload<"run.unpaused">): void {
  run.paused = null;
  run.status = isQueued(run) ? "pending" : "running";
  rememberKey(run, event.key);
}

type EndingEvent = Extract<
  Event,
  { type: "run.ending" | "undo.started" | "undo.entered" | "undo.left" | "finally.entered" }
>;

/** The events of a run that is about to end. */
export function evolveEnding(run: Run, event: EndingEvent): void {
  if (event.type === "run.ending") {
    const { status, code, message } = event;
    const error = status === "completed" ? null : { code: code ?? "RUN_CANCELED", message };
    run.ending = { status, error, items: null, next: 0, turn: null, finally: [] };
    // A cancel has gone over the head of a pause.
    run.paused = null;
    run.status = "running";
    return;
  }
  const ending = run.ending!;
  switch (event.type) {
    case "undo.started":
      ending.items = event.jobs.map((id) => {
        const job = jobById(run, id);
        return { job, completions: run.undoable.get(job) ?? 1, undone: null };
      });
      return;
    case "undo.entered": {
      const job = jobById(run, event.job);
      enterAtEnd(run, job, event.visit);
      ending.turn = { job, item: ending.items![ending.next]! };
      return;
    }
    case "undo.left":
      ending.items![ending.next]!.undone = event.undone;
      ending.next += 1;
      ending.turn = null;
      return;
    case "finally.entered": {
      const job = jobById(run, event.job);
      enterAtEnd(run, job, event.visit);
      ending.turn = { job, item: null };
      ending.finally = [...ending.finally, job];
      return;
    }
  }
}

/** Each visit has all budgets of its step, whatever the step has undone before. */
function enterAtEnd(run: Run, job: Job, visit: number): void {
  change(run, job, () => {
    beginVisit(job);
    job.visit = visit;
    job.status = "blocked";
    job.settledAs = null;
    job.output = null;
    job.charged = 0;
    job.allowed = null;
    job.retriesInRun = 0;
  });
}
