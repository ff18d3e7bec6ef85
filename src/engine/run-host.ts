import type { Command } from "../core/commands.js";
import { decide } from "../core/decide.js";
import type { Event, LoggedEvent } from "../core/events.js";
import { attemptRow, jobRow, routeRow, runRow } from "../core/projections.js";
import type { AttemptRow, JobRow, RouteRow, RunStatus } from "../core/rows.js";
import { isOver, type Run } from "../core/run.js";
import type { Append, SerialisedEvent } from "../store/store.js";

/** One run in memory under one lease: takes commands, keeps what they decided until it is committed. */
export class RunHost {
  private pending: LoggedEvent[] = [];
  private pendingAttempts: AttemptRow[] = [];
  private pendingRoutes: RouteRow[] = [];
  private writtenStatus: RunStatus | null;

  constructor(
    readonly run: Run,
    readonly fence: number,
    private nextSeq: number,
  ) {
    this.writtenStatus = nextSeq === 1 ? null : run.status;
    if (nextSeq > 1) run.dirty.clear();
  }

  /** Decide a command and keep its events for the next commit. */
  take(command: Command, now: number): readonly Event[] {
    const events = decide(this.run, command, now);
    this.keep(events, now);
    return events;
  }

  keep(events: readonly Event[], now: number): void {
    for (const event of events) {
      const seq = this.nextSeq++;
      this.pending.push({ seq, at: now, event });
      const attempt = attemptRow(this.run, event, now);
      if (attempt !== null) this.pendingAttempts.push(attempt);
      const route = routeRow(this.run, event, seq, now);
      if (route !== null) this.pendingRoutes.push(route);
    }
  }

  get hasPending(): boolean {
    return this.pending.length > 0;
  }

  get isOver(): boolean {
    return isOver(this.run);
  }

  /** Hand over what is to be committed. */
  drain(): { append: Append; events: readonly LoggedEvent[] } {
    const events = this.pending;
    const { run } = this;
    const changed = run.status !== this.writtenStatus;
    this.writtenStatus = run.status;
    const jobs: JobRow[] = [];
    for (const job of run.dirty) jobs.push(jobRow(run, job));
    run.dirty.clear();
    const append: Append = {
      runId: run.id,
      fence: this.fence,
      firstSeq: events[0]!.seq,
      events: events.map(serialise),
      run: changed ? runRow(run) : null,
      jobs,
      attempts: this.pendingAttempts,
      routes: this.pendingRoutes,
    };
    this.pending = [];
    this.pendingAttempts = [];
    this.pendingRoutes = [];
    return { append, events };
  }
}

function serialise({ at, event }: LoggedEvent): SerialisedEvent {
  return { at, type: event.type, data: JSON.stringify(event) };
}
