import { evolve } from "../evolve/evolve.js";
import type { Event, EventOf, EventType, LoggedEvent, VisitRole } from "../model/events.js";
import { awaitsCall } from "../model/flow.js";
import { type Job, jobById, type Run } from "../model/run.js";

/** The events by which a hint comes to its step. */
const HINTED: ReadonlySet<EventType> = new Set<EventType>([
  ...(["jobs.retried", "job.let_through", "reset.reserved", "operator.goto", "run.paused"] as const),
]);

/** What must still be looked at because of what has just happened. `agenda.ts` says who looks at it. */
export type Consequence =
  /** These jobs are over for now: what waited for them starts, or is given up. */
  | { readonly kind: "settled"; readonly jobs: readonly Job[] }
  /** A job to which transitions have brought failures is over for now. */
  | { readonly kind: "visit_over"; readonly job: Job }
  /** A forEach job has its items. */
  | { readonly kind: "fan_out"; readonly job: Job }
  /** The last step of the job's run list has completed, or `failedStep` has not. */
  | {
      readonly kind: "list_over";
      readonly job: Job;
      readonly role: VisitRole;
      readonly failedStep: string | null;
    }
  /** Nothing has handled this job's failure: what `fail_fast` is for. */
  | { readonly kind: "fail_fast"; readonly job: Job }
  /** An attempt has ended for which a barrier may have waited. */
  | { readonly kind: "barriers" };

/** A consequence for others to look at, or the rest of one's own work. */
type AgendaItem = Consequence | (() => void);

/**
 * One decision under way: each event it emits is folded in at once, so that the next one is decided on top of it.
 *
 * What follows from an event goes on the agenda instead of being called, so that files need not know each other. The
 * agenda is taken depth first: what an item adds is looked at in the order in which it was added, and before all that
 * was there already. So an item emits first and adds afterwards; whatever it still has to do then, it adds as well.
 */
export class Decision {
  readonly events: Event[] = [];
  /** Who asked for the decision, if anybody did, and the hint to the step that will run again. */
  by: string | null = null;
  hint: string | undefined = undefined;
  /** The next one is the last. */
  private readonly agenda: AgendaItem[] = [];
  /** Items added by the present item, in order. */
  private readonly added: AgendaItem[] = [];

  constructor(
    readonly run: Run,
    readonly now: number,
  ) {}

  emit(event: Event): void {
    if (this.added.length > 0)
      throw new Error(`${event.type} is emitted before what was added to the agenda is looked at`);
    if (event.type === "jobs.ready") return this.makeReady(event);
    this.fold(this.sign(event));
  }

  /** A function is ready only while its program is there: else it waits to be called again. */
  private makeReady(event: EventOf<"jobs.ready">): void {
    const awaited = event.jobs.filter((id) => awaitsCall(jobById(this.run, id)));
    const ready = awaited.length === 0 ? event.jobs : event.jobs.filter((id) => !awaited.includes(id));
    if (awaited.length > 0) this.fold({ ...event, type: "calls.awaited", jobs: awaited });
    if (ready.length > 0) this.fold({ ...event, jobs: ready });
  }

  private fold(event: Event): void {
    evolve(this.run, event, this.now);
    this.events.push(event);
  }

  private sign(event: Event): Event {
    const signed = this.by !== null && "key" in event ? { ...event, by: this.by } : event;
    return this.hint !== undefined && HINTED.has(event.type)
      ? ({ ...signed, hint: this.hint } as Event)
      : signed;
  }

  add(item: AgendaItem): void {
    this.added.push(item);
  }

  /** What to look at next; undefined: nothing is left. */
  take(): AgendaItem | undefined {
    for (let item = this.added.pop(); item !== undefined; item = this.added.pop()) this.agenda.push(item);
    return this.agenda.pop();
  }
}

export function replay(run: Run, log: Iterable<LoggedEvent>): void {
  for (const { event, at } of log) evolve(run, event, at);
}
