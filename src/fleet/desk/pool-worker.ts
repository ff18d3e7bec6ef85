import { randomUUID } from "node:crypto";
import { DEFAULT_RUNTIME_MS } from "../../core/model/definition.js";
import { type AttemptPlace, answerableFor } from "../../core/model/worker-names.js";
import type { TimerPort } from "../../run/worker/attempt-timers.js";
import {
  fits,
  hasTags,
  mayGoAhead,
  minus,
  type Occupied,
  type Room,
  type Taker,
} from "../../run/worker/room.js";
import type { Needs } from "../../run/worker.js";
import type { PoolAttempt } from "./pool-attempt.js";
import { type ClaimAnswer, type Held, MAX_ASKED, type Registration } from "./protocol.js";

/** What an attempt takes that a worker holds but that no run here has asked for yet. */
const STRAY_SLOTS = 1;
/** After a longer silence a worker gets no work, because a live one asks again as soon as it has an answer. */
export const PRESENT_MS = 5_000;

const NOTHING: ClaimAnswer = { assignments: [], stop: [] };

interface OpenClaim {
  readonly answer: (answer: ClaimAnswer) => void;
  readonly cancelTimer: () => void;
}

/** Room reserved for an attempt whose start is being committed. */
export interface Reservation {
  readonly needs: Needs;
  readonly endsAt: number | null;
  /** Whether it tests if the worker works again. */
  readonly proves: boolean;
}

/** A registered worker as the server sees it: what it offers, what it has, and its open claim. */
export class PoolWorker {
  readonly attempts = new Set<PoolAttempt>();
  /** What it says it holds but no run here has asked for yet, by token. */
  readonly strays = new Map<string, Held>();
  draining = false;
  /** Its location in the records of its attempts. */
  readonly at: AttemptPlace;
  /** The name under which its health is counted. */
  readonly answersAs: string;
  /** When it stops taking work, on the monotonic clock. Null if it stays. */
  private endsAt: number | null = null;
  /** Requests of an earlier session get nothing, because the worker may no longer wait for their answers. */
  session = "";
  /** Reports that will soon be answered, with whatever work there is by then. */
  reportsUnderWay = 0;
  /** The wall clock time, for display. */
  lastSeenAt: number;
  /** The time on the monotonic clock. */
  seenAt = 0;
  /** Its claim was cut off, and it has not asked again since. */
  private hasHungUp = false;
  /** When it last asked for attempts, on the monotonic clock. */
  private claimedAt: number;
  private reserved: Reservation[] = [];
  /** An attempt that waits for room here. Others may go ahead of it only if that does not delay it. */
  keptFor: Needs | null = null;
  /** Which secrets and programs it has, by name, according to its answers. */
  private readonly said = new Map<string, boolean>();
  /** Questions that must be sent, or have no answer yet. */
  private readonly questions = new Set<string>();
  private readonly asked = new Set<string>();
  private claim: OpenClaim | null = null;
  private answering = false;

  constructor(
    readonly offer: Omit<Registration, "attempts" | "draining" | "ends_in_ms">,
    /** The wall clock time, for display. */
    readonly registeredAt: number,
    elapsed: number,
    /** The token with which it registered; null if no tokens are in use. */
    readonly caller: number | null = null,
  ) {
    this.lastSeenAt = registeredAt;
    this.claimedAt = elapsed;
    const { node = null, allocation = null, restart = null } = offer;
    this.at = { node, allocation, restart };
    this.answersAs = answerableFor(this.label, this.at)!;
  }

  /** Records how long it says it will stay. */
  leaveIn(ms: number | null, elapsed: number): void {
    this.endsAt = ms === null ? null : elapsed + ms;
  }

  /** Whether a job that starts now ends before the worker leaves. */
  hasTimeFor(needs: Needs, elapsed: number): boolean {
    return this.endsAt === null || elapsed + runtimeOf(needs) <= this.endsAt;
  }

  /** How long it stays; null if unknown. */
  timeLeft(elapsed: number): number | null {
    return this.endsAt === null ? null : Math.max(0, this.endsAt - elapsed);
  }

  /** Notes a sign of life. `elapsed` is on the monotonic clock. */
  see(now: number, elapsed: number): void {
    this.lastSeenAt = now;
    this.seenAt = elapsed;
  }

  get id(): string {
    return this.offer.instance;
  }

  /** Its name in the log. A worker of the same name that started later has another one. */
  get label(): string {
    return labelOf(this.offer);
  }

  isPresent(elapsed: number): boolean {
    if (this.draining) return false;
    return this.claim !== null || (!this.hasHungUp && elapsed - this.seenAt < PRESENT_MS);
  }

  /** Whether it takes nothing new, and has not asked for some time for work given to it earlier. */
  takesNothing(elapsed: number): boolean {
    if (!this.draining || this.claim !== null) return false;
    return this.hasHungUp || elapsed - this.claimedAt >= PRESENT_MS;
  }

  /** Whether it could run the job. An allocation of several machines only takes jobs that ask for as many. */
  couldRun({ tags, actionType, nodes }: Needs): boolean {
    const { offer } = this;
    if ((offer.nodes ?? 1) !== nodes) return false;
    return hasTags(offer.tags, tags) && offer.actions.includes(actionType);
  }

  /**
   * Whether it has all secrets and programs that the job wants. Unknown ones are asked for now, and dispatching is
   * tried again after the answer.
   */
  hasWanted({ wants }: Needs): boolean {
    for (const wanted of wants)
      if (!this.said.has(wanted) && !this.asked.has(wanted)) this.questions.add(wanted);
    if (this.questions.size > 0) this.wake();
    return wants.every((wanted) => this.said.get(wanted) === true);
  }

  /** Asks again after a new registration, because the earlier questions may have been in a lost answer. */
  askAgain(): void {
    for (const wanted of this.asked) this.questions.add(wanted);
    this.asked.clear();
  }

  /** Whether it has said that it does not have this. */
  lacks(wanted: string): boolean {
    return this.said.get(wanted) === false;
  }

  /** Takes answers. Only those to questions count. */
  learn(answers: { readonly [wanted: string]: boolean }): void {
    for (const [wanted, has] of Object.entries(answers))
      if (this.asked.delete(wanted)) this.said.set(wanted, has);
  }

  get used(): Room {
    let [slots, cpus, memoryBytes, gpus] = [0, 0, 0, 0];
    for (const { recovery } of this.strays.values()) if (!recovery) slots += STRAY_SLOTS;
    const take = (needs: Needs): void => {
      slots += needs.slots;
      cpus += needs.cpus;
      memoryBytes += needs.memoryBytes;
      gpus += needs.gpus;
    };
    for (const { needs } of this.reserved) take(needs);
    for (const attempt of this.attempts) if (!attempt.hasEnded) take(attempt.needs);
    return { slots, cpus, memoryBytes, gpus };
  }

  get total(): Room {
    const { slots, cpus, memory_bytes: memoryBytes, gpus = 0 } = this.offer;
    return { slots, cpus, memoryBytes, gpus };
  }

  get free(): Room {
    return minus(this.total, this.used);
  }

  /** Whether the only attempt of its probation is running or about to start. */
  get isProving(): boolean {
    return this.reserved.some(({ proves }) => proves) || [...this.attempts].some(({ proves }) => proves);
  }

  /** Whether it has room that is not reserved for a wider attempt. */
  hasRoomFor(needs: Needs, free: Room, elapsed: number): boolean {
    if (!fits(needs, free)) return false;
    return this.keptFor === null || mayGoAhead(needs, this.keptFor, this.occupied(elapsed));
  }

  /** Whether it is large enough if it had nothing else to do. */
  isBigEnoughFor(needs: Needs): boolean {
    return fits(needs, this.total);
  }

  occupied(now: number): Occupied {
    return { free: this.free, takers: [...this.takers()], now };
  }

  reserve(reservation: Reservation): void {
    this.reserved.push(reservation);
  }

  /** Returns false if the reservation was already released. */
  unreserve(reservation: Reservation): boolean {
    const at = this.reserved.indexOf(reservation);
    if (at >= 0) this.reserved.splice(at, 1);
    return at >= 0;
  }

  /**
   * Begins a session. The worker has said what it holds, so other attempts that were sent to it were in a lost answer.
   */
  beginSession(holds: (token: string) => boolean): void {
    this.closeClaim();
    this.session = randomUUID();
    for (const attempt of this.attempts)
      if (attempt.delivery === "sent" && !holds(attempt.token)) attempt.delivery = "queued";
  }

  /**
   * Keeps a claim open until there is something to answer, or its time is over. An older claim is answered with
   * nothing. `gone` is aborted if its connection breaks: the worker then gets nothing until it asks again.
   */
  openClaim(clock: TimerPort, waitMs: number, gone: AbortSignal | null): Promise<ClaimAnswer> {
    this.closeClaim();
    this.hasHungUp = false;
    return new Promise((resolve) => {
      const answer = (answer: ClaimAnswer): void => {
        this.claimedAt = clock.elapsed();
        resolve(answer);
      };
      const claim: OpenClaim = { answer, cancelTimer: clock.after(waitMs, () => this.answerClaim()) };
      this.claim = claim;
      const hangUp = (): void => {
        if (this.claim !== claim) return;
        this.closeClaim();
        this.hasHungUp = true;
      };
      gone?.addEventListener("abort", hangUp, { once: true });
      if (this.hasNews() || this.questions.size > 0) this.wake();
    });
  }

  closeClaim(): void {
    const { claim } = this;
    this.claim = null;
    claim?.cancelTimer();
    claim?.answer(NOTHING);
  }

  /**
   * Called when there is something for it. Everything from the same turn goes out in one answer: that to a report if
   * one is answered in this turn, so that the claim stays open, else that to the claim.
   */
  wake(): void {
    if (this.claim === null || this.answering) return;
    this.answering = true;
    const later = this.reportsUnderWay > 0 ? setImmediate : queueMicrotask;
    later(() => {
      this.answering = false;
      if (this.hasNews() || this.questions.size > 0) this.answerClaim();
    });
  }

  /** Takes what there is for it, for an answer in this session. */
  takeNews(session: string, elapsed: number): ClaimAnswer {
    if (session !== this.session) return NOTHING;
    this.claimedAt = elapsed;
    return this.hasNews() ? this.news() : NOTHING;
  }

  private *takers(): Generator<Taker> {
    for (const { needs, endsAt } of this.reserved) yield { ...roomOf(needs), endsAt };
    for (const { hasEnded, needs, endsAt } of this.attempts)
      if (!hasEnded) yield { ...roomOf(needs), endsAt };
  }

  private hasNews(): boolean {
    for (const { delivery, isStopNews } of this.attempts)
      if (delivery === "queued" || isStopNews) return true;
    return false;
  }

  private answerClaim(): void {
    const { claim } = this;
    if (claim === null) return;
    this.claim = null;
    claim.cancelTimer();
    const asks = [...this.questions].slice(0, MAX_ASKED);
    for (const wanted of asks) {
      this.questions.delete(wanted);
      this.asked.add(wanted);
    }
    claim.answer(asks.length === 0 ? this.news() : { ...this.news(), asks });
  }

  private news(): ClaimAnswer {
    const assignments: ClaimAnswer["assignments"][number][] = [];
    const stop: string[] = [];
    for (const attempt of this.attempts) {
      if (attempt.delivery === "queued" && attempt.assignment !== null) {
        attempt.delivery = "sent";
        attempt.wasSent = true;
        assignments.push(attempt.assignment);
      }
      if (attempt.stopping) stop.push(attempt.token);
      attempt.isStopNews = false;
    }
    return { assignments, stop };
  }
}

function roomOf({ slots, cpus, memoryBytes, gpus }: Needs): Room {
  return { slots, cpus, memoryBytes, gpus };
}

/** How long an attempt may take, for a worker that does not stay forever. */
export function runtimeOf({ runtimeMs }: Pick<Needs, "runtimeMs">): number {
  return runtimeMs ?? DEFAULT_RUNTIME_MS;
}

export function labelOf({ name, instance }: Pick<Registration, "name" | "instance">): string {
  return `${name}/${instance.slice(0, 8)}`;
}
