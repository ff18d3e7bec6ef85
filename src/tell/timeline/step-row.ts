import { list, noted, nullable, number, type OfFields, object, text, word } from "../../core/text/shape.js";

/** What a job did or waited for, from one event to another; null: it is not over. Milliseconds count from the run's first event. */
const SPAN = {
  kind: word(["attempt", "pause", "parked", "script", "slot", "question"]),
  attempt: number,
  from_ms: number,
  to_ms: nullable(number),
  seq: number,
  end_seq: nullable(number),
  /** The outcome of an attempt that is over. */
  outcome: nullable(word(["completed", "failed", "stopped"])),
} as const;
type Span = OfFields<typeof SPAN>;

/** `order`: its place among the visits of all steps. */
const VISIT = { order: number, seq: number } as const;

export const STEP_ROW = {
  step: text,
  jobs: noted(number, "That have begun: more than one in a fan-out."),
  attempts: number,
  failed: noted(number, "Attempts that failed."),
  from_ms: nullable(number),
  to_ms: noted(nullable(number), "Null: it is at work."),
  seq: nullable(number),
  busy_ms: number,
  waited_ms: noted(number, "Pauses before retries, breakers and questions."),
  visits: list(object(VISIT)),
  spans: noted(list(object(SPAN)), "The newest; of a fan-out only the attempts that failed."),
} as const;

/** Everything that is kept of one step stays bounded: the oldest go first. */
const MAX_SPANS = 120;
const MAX_VISITS = 20;
/** Shorter waits for a slot are no waits. */
const LEAST_SLOT_MS = 20;

interface JobState {
  visit: number;
  readyAt: { readonly ms: number; readonly seq: number } | null;
  running: Span | null;
  waiting: Span | null;
}

/** One step on the timeline: what its job did, or of a fan-out when its jobs were at work and which of them failed. */
export class StepRow {
  readonly visits: OfFields<typeof VISIT>[] = [];
  private readonly jobs = new Map<number, JobState>();
  private spans: Span[] = [];
  /** Counts over all its attempts: their number, failures, and times. */
  private attempts = 0;
  private failed = 0;
  private first: { readonly ms: number; readonly seq: number } | null = null;
  private last = { ms: 0, seq: 0 };
  private busyMs = 0;
  private waitedMs = 0;

  constructor(readonly step: string) {}

  ready(job: number, ms: number, seq: number): void {
    const state = this.stateOf(job);
    state.readyAt = { ms, seq };
    this.endWaiting(state, ms, seq);
  }

  start(job: number, attempt: number, visit: number, { ms, seq, order }: At & { order: () => number }): void {
    const state = this.stateOf(job);
    this.endWaiting(state, ms, seq);
    const { readyAt } = state;
    if (readyAt !== null && ms - readyAt.ms >= LEAST_SLOT_MS)
      this.keep({ ...begin("slot", attempt, readyAt), to_ms: ms, end_seq: seq });
    state.readyAt = null;
    if (state.visit !== visit) {
      state.visit = visit;
      if (this.jobs.size === 1 || this.visits.length === 0) this.visits.push({ order: order(), seq });
      if (this.visits.length > MAX_VISITS) this.visits.shift();
    }
    this.attempts += 1;
    this.first ??= { ms, seq };
    state.running = begin("attempt", attempt, { ms, seq });
    this.keep(state.running);
  }

  end(job: number, outcome: "completed" | "failed" | "stopped", { ms, seq }: At): void {
    const state = this.stateOf(job);
    this.last = { ms, seq };
    if (outcome === "failed") this.failed += 1;
    const { running } = state;
    if (running === null) return;
    Object.assign(running, { to_ms: ms, end_seq: seq, outcome });
    this.busyMs += ms - running.from_ms;
    state.running = null;
  }

  wait(job: number, kind: Exclude<Span["kind"], "attempt" | "slot">, attempt: number, { ms, seq }: At): void {
    const state = this.stateOf(job);
    this.endWaiting(state, ms, seq);
    state.waiting = begin(kind, attempt, { ms, seq });
    this.keep(state.waiting);
  }

  stopWaiting(job: number, { ms, seq }: At): void {
    this.endWaiting(this.stateOf(job), ms, seq);
  }

  get result(): OfFields<typeof STEP_ROW> {
    const isOne = this.jobs.size <= 1;
    const isAtWork = [...this.jobs.values()].some(({ running }) => running !== null);
    return {
      step: this.step,
      jobs: this.jobs.size,
      attempts: this.attempts,
      failed: this.failed,
      from_ms: this.first?.ms ?? null,
      to_ms: isAtWork || this.first === null ? null : this.last.ms,
      seq: this.first?.seq ?? null,
      busy_ms: this.busyMs,
      waited_ms: this.waitedMs,
      visits: this.visits.map((visit) => ({ ...visit })),
      // For a fan-out, only failures are drawn separately.
      spans: (isOne ? this.spans : this.spans.filter(({ outcome }) => outcome === "failed")).map((span) => ({
        ...span,
      })),
    };
  }

  private stateOf(job: number): JobState {
    let state = this.jobs.get(job);
    if (state === undefined) {
      state = { visit: 0, readyAt: null, running: null, waiting: null };
      this.jobs.set(job, state);
    }
    return state;
  }

  private endWaiting(state: JobState, ms: number, seq: number): void {
    const { waiting } = state;
    if (waiting === null) return;
    Object.assign(waiting, { to_ms: ms, end_seq: seq });
    if (waiting.kind !== "script") this.waitedMs += ms - waiting.from_ms;
    state.waiting = null;
  }

  private keep(span: Span): void {
    this.spans.push(span);
    if (this.spans.length <= MAX_SPANS) return;
    // In a fan-out, failures are what matters, so they are dropped last.
    const place = this.jobs.size <= 1 ? 0 : this.spans.findIndex(({ outcome }) => outcome !== "failed");
    this.spans.splice(Math.max(0, place), 1);
  }
}

interface At {
  readonly ms: number;
  readonly seq: number;
}

function begin(kind: Span["kind"], attempt: number, { ms, seq }: At): Span {
  return { kind, attempt, from_ms: ms, to_ms: null, seq, end_seq: null, outcome: null };
}
