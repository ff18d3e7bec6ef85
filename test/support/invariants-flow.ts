import type { LoggedEvent } from "../../src/core/model/events.js";
import type { Invariant } from "./invariants.js";

/** What is known of a job while a log is read. */
interface Seen {
  program: boolean;
  at: "blocked" | "ready" | "running" | "settled";
  attempt: number;
  /** Its outcome counts until somebody goes back, or asks for it again. */
  isRecorded: boolean;
  by: number | null;
}

type Broken = string | null;

/** Walks a log and says where it breaks a rule. Jobs that it does not know belong to a definition. */
function walk(
  log: readonly LoggedEvent[],
  rule: (seen: Map<number, Seen>, logged: LoggedEvent) => Broken,
): Broken {
  const seen = new Map<number, Seen>();
  const of = (id: number): Seen => {
    const known = seen.get(id) ?? { program: false, at: "blocked", attempt: 0, isRecorded: false, by: null };
    seen.set(id, known);
    return known;
  };
  for (const logged of log) {
    const broken = rule(seen, logged);
    if (broken !== null) return `event ${logged.seq}: ${broken}`;
    const { event } = logged;
    switch (event.type) {
      case "step.declared":
        of(event.job).by = event.by;
        of(event.by).program = true;
        break;
      case "jobs.ready":
        for (const id of event.jobs) of(id).at = "ready";
        break;
      case "calls.awaited":
        for (const id of event.jobs) of(id).at = "blocked";
        break;
      case "attempt.started":
        Object.assign(of(event.job), { at: "running", attempt: event.attempt });
        break;
      case "attempt.suspended":
        of(event.job).at = "blocked";
        break;
      case "attempt.failed":
        of(event.job).at = "blocked";
        break;
      case "attempt.stopped":
        of(event.job).at = "settled";
        break;
      case "attempt.succeeded":
      case "job.given":
        Object.assign(of(event.job), { at: "settled", isRecorded: true });
        break;
      case "job.failed":
        Object.assign(of(event.job), { at: "settled", isRecorded: true });
        break;
      case "job.held":
        Object.assign(of(event.job), { at: "blocked", isRecorded: false });
        break;
      case "jobs.canceled":
        for (const id of event.jobs) of(id).at = "settled";
        break;
      case "jobs.retried":
        for (const id of [...event.jobs, ...event.reblocked])
          Object.assign(of(id), { at: "blocked", isRecorded: false });
        break;
      case "barrier.closed":
        for (const id of [...event.invalidated, ...event.retired])
          Object.assign(of(id), { at: "blocked", isRecorded: false });
        break;
      default:
        break;
    }
  }
  return null;
}

/** What has an outcome on record is not executed again, unless somebody goes back to before it. */
export const noRecordedOutcomeTwice: Invariant = (log) =>
  walk(log, (seen, { event }) => {
    if (event.type !== "attempt.started") return null;
    const job = seen.get(event.job);
    return job?.by != null && job.isRecorded
      ? `job ${event.job} begins again though its outcome is on record`
      : null;
  });

/** A call belongs to the attempt of its program that is at work. */
export const everyCallHasItsProgram: Invariant = (log) =>
  walk(log, (seen, { event }) => {
    if (event.type !== "step.declared") return null;
    const program = seen.get(event.by);
    if (program?.at !== "running") return `job ${event.by} calls and is not at work`;
    return program.attempt === event.attempt
      ? null
      : `attempt ${event.attempt} of job ${event.by} calls late`;
  });

/** Nobody can execute a function whose program is not there. */
export const functionsRunBesideTheirProgram: Invariant = (log) => {
  const functions = new Set<number>();
  return walk(log, (seen, { event }) => {
    if (event.type === "step.declared" && event.definition !== null) {
      const { type } = event.definition.action as { readonly type: string };
      functions[type === "function" ? "add" : "delete"](event.job);
    }
    if (event.type !== "attempt.started" || !functions.has(event.job)) return null;
    const program = seen.get(seen.get(event.job)?.by ?? 0);
    return program?.at === "running" ? null : `function ${event.job} begins without its program`;
  });
};

/** A program knows no more outcomes than there are. */
export const callsKnowThePast: Invariant = (log) => {
  let outcomes = 0;
  return walk(log, (seen, { event }) => {
    if (event.type === "step.declared" && event.after > outcomes)
      return `job ${event.job} is called after ${event.after} of ${outcomes} outcomes`;
    if (event.type === "attempt.succeeded" || event.type === "job.given" || event.type === "job.failed") {
      if (seen.get(event.job)?.by != null) outcomes += 1;
    } else if (event.type === "hold.resolved" && (event.action === "complete" || event.action === "skip")) {
      if (seen.get(event.job)?.by != null) outcomes += 1;
    }
    return null;
  });
};

/** A program that does again what is on record knows the same when it calls the same. */
export const repeatedCallsKnowTheSame: Invariant = (log) => {
  const known = new Map<number, number>();
  for (const { seq, event } of log) {
    if (event.type === "step.declared") {
      const before = known.get(event.job);
      if (before !== undefined && before !== event.after)
        return `event ${seq}: job ${event.job} was called after ${before} outcomes, and is now after ${event.after}`;
      known.set(event.job, event.after);
    } else if (event.type === "barrier.closed") {
      for (const id of [...event.invalidated, ...event.retired]) known.delete(id);
    } else if (event.type === "jobs.retried") {
      for (const id of [...event.jobs, ...event.reblocked]) known.delete(id);
    }
  }
  return null;
};
