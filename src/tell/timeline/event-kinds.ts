import type { EventType } from "../../core/model/events.js";

/** What people look for in a log: where something failed, and where something or somebody decided. */
export const EVENT_KINDS = {
  failures: ["attempt.failed", "if.failed", "job.failed", "run.failed", "loop.exceeded"],
  decisions: [
    ...["ladder.climbed", "restart.granted", "job.parked", "rule.reserved", "retry.scheduled"],
    ...["reset.reserved", "remediation.started", "goto.taken", "edge.taken", "requeue.scheduled"],
    ...["job.held", "job.dead_lettered", "routes.settled", "human.asked", "human.answered"],
    ...["run.paused", "run.unpaused", "run.cancel_requested", "run.reopened", "run.forked"],
    ...["run.ending", "undo.started", "undo.left"],
    ...["hold.resolved", "jobs.retried", "job.let_through", "operator.goto"],
  ],
} as const satisfies { readonly [kind: string]: readonly EventType[] };

export type EventKind = keyof typeof EVENT_KINDS;

const BY_TYPE = new Map<string, EventKind>(
  (Object.keys(EVENT_KINDS) as EventKind[]).flatMap((kind) =>
    EVENT_KINDS[kind].map((type) => [type, kind] as const),
  ),
);

/** Null for other events. */
export function kindOf(type: EventType): EventKind | null {
  return BY_TYPE.get(type) ?? null;
}
