import type { EdgeConsidered, Event, LoggedEvent } from "../../core/model/events.js";
import { iso } from "../../core/text/iso-time.js";
import {
  list,
  noted,
  number,
  type OfFields,
  object,
  text,
  type Writable,
  word,
} from "../../core/text/shape.js";
import { readPages } from "../../run/engine/load-run.js";
import type { Store } from "../../store/store.js";
import { type EventKind, kindOf } from "./event-kinds.js";
import { STEP_ROW, StepRow } from "./step-row.js";

/** How many events there were in one stretch of time, from so many milliseconds after the first event; `seq` is the last one's. */
const STRETCH = { from_ms: number, events: number, failures: number, seq: number } as const;
type Stretch = OfFields<typeof STRETCH>;

/** More than these no picture shows. */
export const MAX_STRETCHES = 240;

/** Counts events by time, in stretches that grow with the log: their number stays bounded, however long it is. */
export class Density {
  private readonly counted = new Map<number, Writable<Stretch>>();
  private width = 1;

  add(ms: number, seq: number, failed: boolean): void {
    while (Math.floor(ms / this.width) >= MAX_STRETCHES) this.widen();
    const place = Math.floor(ms / this.width);
    let stretch = this.counted.get(place);
    if (stretch === undefined) {
      stretch = { from_ms: place * this.width, events: 0, failures: 0, seq };
      this.counted.set(place, stretch);
    }
    stretch.events += 1;
    if (failed) stretch.failures += 1;
    stretch.seq = Math.max(stretch.seq, seq);
  }

  /** The stretches with events, oldest first, and their length. */
  get result(): { readonly width: number; readonly stretches: readonly Stretch[] } {
    const stretches = [...this.counted.values()].sort((one, other) => one.from_ms - other.from_ms);
    return { width: this.width, stretches: stretches.map((stretch) => ({ ...stretch })) };
  }

  private widen(): void {
    const before = [...this.counted.values()];
    this.width *= 2;
    this.counted.clear();
    for (const { from_ms, events, failures, seq } of before) {
      const place = Math.floor(from_ms / this.width);
      const known = this.counted.get(place);
      this.counted.set(place, {
        from_ms: place * this.width,
        events: events + (known?.events ?? 0),
        failures: failures + (known?.failures ?? 0),
        seq: Math.max(seq, known?.seq ?? 0),
      });
    }
  }
}

/** The run went from one step on to another that does not depend on it, or back. */
const JUMP = {
  kind: word(["goto", "edge", "repair", "operator"]),
  from: text,
  to: text,
  at_ms: number,
  seq: number,
} as const;
type Jump = OfFields<typeof JUMP>;

/** A transition that was looked at. */
const CANDIDATE = {
  step: text,
  edge: number,
  to: text,
  taken: noted(number, "How often."),
  why: noted(text, "Why it was not taken the last time; empty: it was never passed over."),
  /** The event at which it was first considered. */
  seq: number,
} as const;
type Candidate = Writable<OfFields<typeof CANDIDATE>>;

export const RUN_TIMELINE = {
  events: noted(number, "The `seq` of the last event."),
  first_at: text,
  last_at: text,
  failures: number,
  decisions: number,
  stretch_ms: noted(number, "How long one of `stretches` is."),
  stretches: list(object(STRETCH)),
  rows: list(object(STEP_ROW)),
  jumps: list(object(JUMP)),
  candidates: list(object(CANDIDATE)),
} as const;

const MAX_JUMPS = 300;

/** What happened when, from a log that is heard once; more of it can follow later. */
export class RunTimeline {
  private readonly rows = new Map<string, StepRow>();
  private readonly stepOf = new Map<number, string>();
  private readonly density = new Density();
  private readonly jumps: Jump[] = [];
  private readonly candidates = new Map<string, Candidate>();
  private readonly kinds: { [kind in EventKind]: number } = { failures: 0, decisions: 0 };
  private firstAt = 0;
  private lastAt = 0;
  private lastSeq = 0;
  private visits = 0;

  /** Whatever the log has beyond what was heard. */
  async catchUp(store: Store, runId: number): Promise<this> {
    for await (const page of readPages(store, runId, { afterSeq: this.lastSeq })) {
      if (page.length === 0) break;
      await this.learnNames(store, runId, page);
      for (const logged of page) this.hear(logged);
    }
    return this;
  }

  get result(): OfFields<typeof RUN_TIMELINE> {
    const { width, stretches } = this.density.result;
    return {
      events: this.lastSeq,
      first_at: iso(this.firstAt),
      last_at: iso(this.lastAt),
      failures: this.kinds.failures,
      decisions: this.kinds.decisions,
      stretch_ms: width,
      stretches,
      rows: [...this.rows.values()].map(({ result }) => result),
      jumps: [...this.jumps],
      candidates: [...this.candidates.values()].map((candidate) => ({ ...candidate })),
    };
  }

  hear({ seq, at, event }: LoggedEvent): void {
    if (this.lastSeq === 0) this.firstAt = at;
    // Clocks of two hosts may disagree; the log has an order of its own.
    this.lastAt = Math.max(this.lastAt, at);
    this.lastSeq = seq;
    const ms = this.lastAt - this.firstAt;
    const kind = kindOf(event.type);
    if (kind !== null) this.kinds[kind] += 1;
    this.density.add(ms, seq, event.type === "attempt.failed" || event.type === "if.failed");
    this.take(event, { ms, seq });
  }

  learn(job: number, step: string): void {
    this.stepOf.set(job, step);
  }

  private take(event: Event, when: { readonly ms: number; readonly seq: number }): void {
    const { ms, seq } = when;
    switch (event.type) {
      case "job.created":
        return this.learn(event.job, event.step);
      case "jobs.ready":
      case "jobs.unparked":
        for (const job of event.jobs) this.rowOf(job)?.ready(job, ms, seq);
        return;
      case "attempt.started":
        return this.rowOf(event.job)?.start(event.job, event.attempt, event.visit, {
          ...when,
          order: () => (this.visits += 1),
        });
      case "attempt.succeeded":
        return this.rowOf(event.job)?.end(event.job, "completed", when);
      case "attempt.failed":
        return this.rowOf(event.job)?.end(event.job, "failed", when);
      case "attempt.stopped":
      case "attempt.suspended":
        return this.rowOf(event.job)?.end(event.job, "stopped", when);
      case "retry.scheduled":
      case "requeue.scheduled":
        return this.rowOf(event.job)?.wait(event.job, "pause", event.attempt, when);
      case "job.parked":
        return this.rowOf(event.job)?.wait(event.job, "parked", event.attempt, when);
      case "recovery.started":
        return this.rowOf(event.job)?.wait(event.job, "script", event.attempt, when);
      case "human.asked":
        return this.rowOf(event.job)?.wait(event.job, "question", event.attempt, when);
      case "recovery.finished":
      case "recovery.interrupted":
      case "human.answered":
        return this.rowOf(event.job)?.stopWaiting(event.job, when);
      case "ladder.climbed":
        return this.look(event.job, event.failure_route?.considered ?? [], seq);
      default:
        return this.jump(event, when);
    }
  }

  private jump(event: Event, { ms, seq }: { readonly ms: number; readonly seq: number }): void {
    const add = (kind: Jump["kind"], job: number, ...to: readonly string[]): void => {
      const from = this.stepOf.get(job);
      if (from === undefined) return;
      for (const each of to) this.jumps.push({ kind, from, to: each, at_ms: ms, seq });
      if (this.jumps.length > MAX_JUMPS) this.jumps.shift();
    };
    switch (event.type) {
      case "goto.taken":
        return add("goto", event.job, event.to);
      case "edge.taken":
        add("edge", event.job, event.to);
        return this.look(event.job, event.on === "success" ? event.considered : [], seq, event.edge);
      case "remediation.started":
        return add("repair", event.job, ...event.steps);
      case "operator.goto":
        return add("operator", event.target, event.to);
      default:
    }
  }

  /** After a failure the climb has said what was looked at; the transition itself says which was taken. */
  private look(
    job: number,
    considered: readonly EdgeConsidered[],
    seq: number,
    taken: number | null = null,
  ): void {
    const step = this.stepOf.get(job);
    if (step === undefined) return;
    for (const { edge, to, matched, why } of considered) {
      const known = this.candidates.get(`${step} ${edge}`) ?? { step, edge, to, taken: 0, why: "", seq };
      this.candidates.set(`${step} ${edge}`, known);
      if (matched) known.taken += taken === null || taken === edge ? 1 : 0;
      else known.why = why;
    }
  }

  private rowOf(job: number): StepRow | undefined {
    const step = this.stepOf.get(job);
    if (step === undefined) return undefined;
    let row = this.rows.get(step);
    if (row === undefined) {
      row = new StepRow(step);
      this.rows.set(step, row);
    }
    return row;
  }

  private async learnNames(store: Store, runId: number, page: readonly LoggedEvent[]): Promise<void> {
    const isNew = page.some(({ event }) => event.type === "run.created" || event.type === "scopes.opened");
    if (!isNew) return;
    const PAGE = 10_000;
    let after = 0;
    for (const id of this.stepOf.keys()) after = Math.max(after, id);
    for (;;) {
      const names = await store.readJobNames(runId, { afterId: after, limit: PAGE });
      for (const { id, step } of names) this.learn(id, step);
      if (names.length < PAGE) return;
      after = names.at(-1)!.id;
    }
  }
}

/** Timelines of so many runs are kept, so that one that is looked at live is not read from its beginning again. */
const MAX_KEPT = 8;
const kept = new WeakMap<Store, Map<number, Promise<RunTimeline>>>();

export async function timelineOf(store: Store, runId: number): Promise<RunTimeline["result"]> {
  const runs = kept.get(store) ?? new Map<number, Promise<RunTimeline>>();
  kept.set(store, runs);
  const before = runs.get(runId) ?? Promise.resolve(new RunTimeline());
  const now = before.then((timeline) => timeline.catchUp(store, runId));
  runs.delete(runId);
  runs.set(runId, now);
  for (const id of runs.keys()) if (runs.size > MAX_KEPT) runs.delete(id);
  try {
    return (await now).result;
  } catch (error) {
    runs.delete(runId);
    throw error;
  }
}
