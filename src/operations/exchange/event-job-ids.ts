import type { Event, EventType } from "../../core/model/events.js";

/**
 * Where the ids of jobs stand in an event: `jobs[]` is a list of them, `lost[].job` a field of each entry. A new type of
 * event must be entered here, and the compiler says so.
 */
const JOB_IDS: { readonly [type in EventType]: readonly string[] } = {
  "run.created": [],
  "run.started": [],
  "run.resumed": ["lost[].job"],
  "run.cancel_requested": [],
  "run.paused": [],
  "run.unpaused": [],
  "run.held": ["jobs[]"],
  "run.reopened": [],
  "run.forked": [],
  "run.completed": ["handled[]"],
  "run.failed": ["unhandled[]"],
  "run.canceled": [],
  "scopes.opened": ["job"],
  "scope.abandoned": ["canceled[]", "stopping[]"],
  "join.decided": ["job", "handled[]"],
  "jobs.ready": ["jobs[]"],
  "jobs.skipped": ["jobs[]"],
  "jobs.canceled": ["jobs[]"],
  "jobs.stopping": ["jobs[]"],
  "job.created": ["job"],
  "job.released": ["job"],
  "job.failed": ["job", "partOf"],
  "job.reused": ["job"],
  "job.held": ["job"],
  "hold.resolved": ["job"],
  "jobs.retried": ["jobs[]", "reblocked[]"],
  "operator.goto": ["target", "jobs[]"],
  "routes.settled": ["handled[]", "unhandled[]"],
  "visit.requested": ["job", "by"],
  "visit.entered": ["job", "by"],
  "visit.left": ["job", "by"],
  "attempt.started": ["job"],
  "attempt.succeeded": ["job"],
  "attempt.failed": ["job", "error.job_id"],
  "attempt.stopped": ["job"],
  "if.failed": ["job", "error.job_id"],
  "ladder.climbed": ["job", "failureRoute.targetNodeId"],
  "restart.granted": ["job"],
  "rule.reserved": ["job"],
  "recovery.started": ["job"],
  "recovery.interrupted": ["job"],
  "recovery.finished": ["job"],
  "reset.reserved": ["job"],
  "requeue.scheduled": ["job"],
  "job.dead_lettered": ["job"],
  "workspace.opened": [],
  "workspace.moved": [],
  "workspace.left": [],
  "rebuild.started": ["job", "leftover.job"],
  "rebuild.finished": ["job", "partial.job"],
  "set_aside.started": ["job", "for"],
  "set_aside.finished": ["job", "for"],
  "workspace.promoted": ["job"],
  "workspace.discarded": ["job"],
  "human.asked": ["job"],
  "human.answered": ["job"],
  "edge.taken": ["job", "target"],
  "retry.scheduled": ["job"],
  "remediation.started": ["job", "jobs[]"],
  "remediation.finished": ["job"],
  "follow_up.started": ["job", "jobs[]"],
  "follow_up.finished": ["job"],
  "goto.taken": ["job", "target"],
  "barrier.opened": ["target", "from", "members[]"],
  "barrier.closed": ["invalidated[]", "retired[]"],
  "loop.exceeded": ["job"],
  "evaluation.requested": ["job"],
  "evaluation.finished": ["job"],
};

export function isEventType(text: unknown): text is EventType {
  return typeof text === "string" && Object.hasOwn(JOB_IDS, text);
}

/** The same event with other job ids. The event itself stays as it is. */
export function withJobIds(event: Event, newId: (id: number) => number): Event {
  const copy = structuredClone(event) as unknown as Fields;
  for (const path of JOB_IDS[event.type]) rewrite(copy, path.split("."), newId);
  return copy as unknown as Event;
}

type Fields = { [key: string]: unknown };

function rewrite(at: Fields, [first, ...rest]: readonly string[], newId: (id: number) => number): void {
  const isList = first!.endsWith("[]");
  const field = isList ? first!.slice(0, -2) : first!;
  const value = at[field];
  const each = (entry: unknown): unknown => {
    if (rest.length === 0) return typeof entry === "number" ? newId(entry) : entry;
    if (entry !== null && typeof entry === "object") rewrite(entry as Fields, rest, newId);
    return entry;
  };
  if (isList) at[field] = Array.isArray(value) ? value.map(each) : value;
  else at[field] = each(value);
}
