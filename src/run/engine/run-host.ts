import { decide } from "../../core/decide/decide.js";
import { DarumaError } from "../../core/errors/errors.js";
import {
  attemptRow,
  checkpointRows,
  isWanted,
  jobRow,
  routeRow,
  runRow,
  wantedAt,
} from "../../core/evolve/projections.js";
import { waitingJobs } from "../../core/evolve/tally-of-run.js";
import type { Command } from "../../core/model/commands.js";
import type { NotifyRule } from "../../core/model/definition.js";
import { phaseOf } from "../../core/model/ending/run-ending.js";
import type { Event, LoggedEvent } from "../../core/model/events.js";
import type { AttemptRow, CheckpointRow, JobRow, RouteRow } from "../../core/model/rows.js";
import { isOver, isSettled, type Run } from "../../core/model/run.js";
import type { Notice } from "../../core/notices/notice.js";
import { noticesOf } from "../../core/notices/notices-of.js";
import type { Append, SerialisedEvent } from "../../store/store.js";
import type { LaterOutputs } from "./variables.js";

interface Waiter {
  readonly resolve: (run: Run) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_EVENTS_AHEAD = 2_000;

/** One run in memory under one lease. It takes commands and keeps their decisions until they are committed. */
export class RunHost {
  /** Why this host no longer speaks for its run; null while it does. */
  lostBecause: unknown = null;
  /** Resolves `speaks`. */
  beginSpeaking: () => void = () => {};
  /** Resolves when the engine accepts reports for this host, or never will. */
  readonly speaks = new Promise<void>((resolve) => {
    this.beginSpeaking = resolve;
  });
  private readonly waiters = new Set<Waiter>();
  /** Callers that wait for a commit only. They need not wait until the fate of the run is known. */
  private readonly commitWaiters = new Set<Waiter>();
  private pending: LoggedEvent[] = [];
  private pendingAttempts: AttemptRow[] = [];
  /** The position of each job's last attempt among the pending ones. */
  private readonly lastAttemptOf = new Map<number, number>();
  private pendingRoutes: RouteRow[] = [];
  private pendingCheckpoints: CheckpointRow[] = [];
  private pendingNotices: Notice[] = [];
  private readonly unread = new Set<LaterOutputs>();
  private writtenRow: string | null;
  private settledSinceRow = 0;

  constructor(
    readonly run: Run,
    public fence: number,
    private nextSeq: number,
    /** The last event in the run's snapshot, or in the one being made; 0 if there is none. */
    public snapshotSeq = 0,
    /** Rules of the settings. Those of a workflow are part of its definition. */
    private readonly notify: readonly NotifyRule[] = [],
  ) {
    this.writtenRow = nextSeq === 1 ? null : rowMark(run);
    if (nextSeq > 1) {
      run.dirty.clear();
      run.book.unwritten = [];
    }
  }

  /** Resolves when the run is over or rests, and that is committed. Rejects if this host loses the run. */
  ended(): Promise<Run> {
    const ended = new Promise<Run>((resolve, reject) => this.waiters.add({ resolve, reject }));
    // Marked as handled: a caller may await it later, and a loss must not be an unhandled rejection meanwhile.
    ended.catch(() => {});
    return ended;
  }

  /** Resolves when `subscribe` calls back. Rejects if the run is lost before. */
  until(subscribe: (done: () => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.lostBecause !== null) return reject(this.lostBecause);
      const waiter: Waiter = { resolve: () => resolve(), reject };
      this.commitWaiters.add(waiter);
      subscribe(() => {
        this.commitWaiters.delete(waiter);
        resolve();
      });
    });
  }

  finish(): void {
    for (const { resolve } of [...this.waiters, ...this.commitWaiters]) resolve(this.run);
    this.waiters.clear();
    this.commitWaiters.clear();
  }

  lose(error: unknown): void {
    this.loseVoice(error);
    for (const { reject } of this.waiters) reject(error);
    this.waiters.clear();
  }

  /** Stops further decisions. Earlier ones may still be committed. */
  loseVoice(error: unknown): void {
    this.lostBecause ??= error;
    for (const { reject } of this.commitWaiters) reject(error);
    this.commitWaiters.clear();
  }

  /** Decides a command and keeps its events for the next commit. */
  take(command: Command, now: number): readonly Event[] {
    return this.decided(command, now, true);
  }

  /** Does the same if no engine has the run, so that nothing acts on the events now. */
  takeForLater(command: Command, now: number): readonly Event[] {
    return this.decided(command, now, false);
  }

  private decided(command: Command, now: number, isActedOn: boolean): readonly Event[] {
    this.keepUnread(command);
    const events = decide(this.run, command, now, isActedOn);
    this.keep(events, now);
    return events;
  }

  /** Registers outputs that running attempts read as they are now. */
  keepsForLater(outputs: LaterOutputs): void {
    this.unread.add(outputs);
  }

  /**
   * Keeps unread outputs before the run changes. A start changes no output, and a successful attempt has read what it
   * wanted.
   */
  private keepUnread(command: Command): void {
    if (command.type === "attempt.start") return;
    for (const unread of this.unread) if (!isSuccessOf(unread, command)) unread.keep();
    this.unread.clear();
  }

  keep(events: readonly Event[], now: number): void {
    for (const event of events) {
      const seq = this.nextSeq++;
      this.pending.push({ seq, at: now, event });
      const attempt = attemptRow(this.run, event, now);
      if (attempt !== null) this.keepAttempt(attempt);
      const route = routeRow(this.run, event, seq, now);
      if (route !== null) this.pendingRoutes.push(route);
      this.pendingCheckpoints.push(...checkpointRows(this.run, event));
      this.pendingNotices.push(...noticesOf(this.run, event, { seq, at: now }, this.notify));
    }
  }

  /** Keeps an attempt's row. One that begins and ends between two commits is written once. */
  private keepAttempt(row: AttemptRow): void {
    const rows = this.pendingAttempts;
    const last = this.lastAttemptOf.get(row.job_id);
    if (last !== undefined && rows[last]!.attempt === row.attempt) rows[last] = row;
    else this.lastAttemptOf.set(row.job_id, rows.push(row) - 1);
  }

  get hasPending(): boolean {
    return this.pending.length > 0;
  }

  /**
   * Whether too much is waiting to be committed. Even what needs no commit first waits then, because a slow store would
   * otherwise get one huge batch.
   */
  get isFarAhead(): boolean {
    return this.pending.length >= MAX_EVENTS_AHEAD;
  }

  /** The last event that this host has decided. */
  get lastSeq(): number {
    return this.nextSeq - 1;
  }

  get isOver(): boolean {
    return isOver(this.run);
  }

  /** Returns what is to be committed. */
  drain(): { append: Append; events: readonly LoggedEvent[] } {
    const events = this.pending;
    const { run } = this;
    const jobs: JobRow[] = [];
    for (const job of run.dirty) {
      jobs.push(jobRow(run, job));
      if (isSettled(job.status)) this.settledSinceRow += 1;
    }
    run.dirty.clear();
    const mark = rowMark(run);
    const changed = mark !== this.writtenRow || this.settledSinceRow >= settledPerRow(run);
    if (changed) this.settledSinceRow = 0;
    this.writtenRow = mark;
    const append: Append = {
      runId: run.id,
      fence: this.fence,
      firstSeq: events[0]!.seq,
      events: events.map(serialise),
      run: changed ? runRow(run) : null,
      jobs,
      attempts: this.pendingAttempts,
      routes: this.pendingRoutes,
      ...(this.pendingCheckpoints.length === 0 ? {} : { checkpoints: this.pendingCheckpoints }),
      ...(run.book.unwritten.length === 0 ? {} : { book: run.book.unwritten }),
      ...(this.pendingNotices.length === 0 ? {} : { outbox: this.pendingNotices }),
    };
    run.book.unwritten = [];
    this.pending = [];
    this.pendingAttempts = [];
    this.lastAttemptOf.clear();
    this.pendingRoutes = [];
    this.pendingCheckpoints = [];
    this.pendingNotices = [];
    return { append, events };
  }
}

function isSuccessOf({ jobId, attempt }: LaterOutputs, command: Command): boolean {
  return (
    command.type === "attempt.finish" &&
    command.outcome.kind === "succeeded" &&
    command.job === jobId &&
    command.attempt === attempt
  );
}

/** A mark that changes whenever the run's own row does, except for its counts of jobs. */
function rowMark(run: Run): string {
  const { status, startedAt, finishedAt, error, recoveries } = run;
  return `${status} ${isWanted(run)} ${wantedAt(run)} ${startedAt} ${finishedAt} ${error?.code} ${recoveries.total} ${waitingJobs(run)} ${phaseOf(run)}`;
}

const ROWS_FOR_JOBS = 100;

/**
 * How many jobs settle between two writes of the row, which has their number: for very many jobs it is written only now
 * and then.
 */
function settledPerRow({ jobs }: Run): number {
  return Math.max(1, Math.floor(jobs.length / ROWS_FOR_JOBS));
}

function serialise({ at, event }: LoggedEvent): SerialisedEvent {
  return { at, type: event.type, data: JSON.stringify(event) };
}

/** The error for callers that wait for a run which this engine has released. */
export function stoppedError(runId: number): DarumaError {
  return new DarumaError("LEASE_LOST", "the engine was stopped", {
    hint: {
      typed: `Continue it with \`daruma resume ${runId}\`.`,
      asked: "Try again; the server is stopping.",
    },
  });
}
