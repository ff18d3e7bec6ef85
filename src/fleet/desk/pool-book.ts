import { DarumaError } from "../../core/errors/errors.js";
import type { Outcome } from "../../core/model/outcome.js";
import { durationAmount } from "../../core/text/amount-text.js";
import type { TimerPort } from "../../run/worker/attempt-timers.js";
import { type PoolAttempt, VERDICT_MS } from "./pool-attempt.js";
import type { PoolReports } from "./pool-reports.js";
import { labelOf, type PoolWorker, PRESENT_MS } from "./pool-worker.js";
import type { Registration } from "./protocol.js";

/**
 * The registered workers and their attempts. A worker that shows no sign of life is removed, and its attempts are lost.
 */
export class PoolBook {
  readonly workers = new Map<string, PoolWorker>();
  readonly attempts = new Map<string, PoolAttempt>();
  readonly roomListeners = new Set<() => void>();
  /** Recovery scripts for which there was no worker at all. */
  private readonly unplaced = new Set<PoolAttempt>();
  private readonly timers = new Map<PoolWorker, () => void>();

  constructor(
    private readonly clock: TimerPort,
    readonly leaseMs: number,
    private readonly reports: PoolReports,
  ) {}

  known(workerId: string): PoolWorker {
    const worker = this.workers.get(workerId);
    if (worker === undefined) throw unknownWorker();
    return worker;
  }

  /**
   * Refuses a name that a worker with another token has, because attempts are identified by the name of their worker.
   */
  refuseTakenName(offer: Pick<Registration, "name" | "instance">, caller: number | null): void {
    const label = labelOf(offer);
    for (const { id, label: taken, caller: other } of this.workers.values())
      if (other !== caller && (id === offer.instance || taken === label))
        throw new DarumaError("FORBIDDEN", `the worker ${label} is registered with another token`);
  }

  heldBy(workerId: string, token: string): PoolAttempt {
    const worker = this.known(workerId);
    this.seen(worker);
    const attempt = this.attempts.get(token);
    if (attempt?.worker === worker) return attempt;
    if (attempt === undefined && !this.reports.isOver(token))
      throw new DarumaError("RUN_NOT_HERE", "the attempt's run is not on this server yet");
    throw new DarumaError("STALE_ATTEMPT", "the attempt no longer belongs to this worker");
  }

  isHere(label: string): boolean {
    for (const worker of this.workers.values()) if (worker.label === label) return true;
    return false;
  }

  seen(worker: PoolWorker): void {
    const { clock } = this;
    worker.see(clock.now(), clock.elapsed());
    if (this.timers.has(worker)) return;
    const watch = (): void => {
      const left = worker.seenAt + this.leaseMs - clock.elapsed();
      if (left <= 0) this.remove(worker, `its worker sent no heartbeat for ${durationAmount(this.leaseMs)}`);
      else this.timers.set(worker, clock.after(left, watch));
    };
    this.timers.set(worker, clock.after(this.leaseMs, watch));
  }

  /** Whether the worker is registered as this object. A process may be removed and come back as another object. */
  isRegistered(worker: PoolWorker | null): boolean {
    return worker !== null && this.workers.get(worker.id) === worker;
  }

  add(worker: PoolWorker): void {
    this.workers.set(worker.id, worker);
    // Only reports that are being committed are left of its earlier registration.
    for (const attempt of this.attempts.values()) if (attempt.worker?.id === worker.id) attempt.putOn(worker);
  }

  remove(worker: PoolWorker, why: string): void {
    this.workers.delete(worker.id);
    this.timers.get(worker)?.();
    this.timers.delete(worker);
    worker.closeClaim();
    for (const attempt of [...worker.attempts]) this.lose(attempt, why);
  }

  /** Removes a worker that leaves by itself. None of its attempts continues. */
  letGo(worker: PoolWorker): void {
    const why = "its worker has left";
    for (const attempt of [...worker.attempts]) {
      if (!attempt.awaitsVerdict) continue;
      attempt.leave();
      attempt.cancelExpiry = this.clock.after(VERDICT_MS, () => this.lose(attempt, why));
    }
    this.remove(worker, why);
  }

  /** Expects an attempt of an earlier engine: some worker has it or will register with it, or else it is lost. */
  expect(attempt: PoolAttempt): void {
    for (const worker of this.workers.values())
      if (worker.strays.has(attempt.token)) return attempt.putOn(worker);
    const { held } = attempt;
    // Its worker is here without the attempt, which was on its way when the server that sent it died.
    const neverBegan = this.isHere(held.worker) && !held.recovery;
    const why = neverBegan
      ? NEVER_BEGAN
      : `its worker did not come back within ${durationAmount(this.leaseMs)}`;
    attempt.cancelExpiry = this.clock.after(neverBegan ? 0 : this.leaseMs, () => this.lose(attempt, why));
  }

  /** Declares attempts lost with which the worker has not come back. */
  loseWhatNeverArrived(worker: PoolWorker): void {
    for (const attempt of [...this.attempts.values()])
      if (attempt.worker === null && attempt.held.worker === worker.label && !attempt.held.recovery)
        this.lose(attempt, NEVER_BEGAN);
  }

  lose(attempt: PoolAttempt, why: string): void {
    // The engine decides what has arrived.
    if (attempt.reporting !== null) return;
    this.end(attempt, { kind: "failed", facts: { lost: true, message: why } });
  }

  /**
   * Declares the attempt lost unless its worker, which was stopped while the start was being committed, asks for it
   * soon.
   */
  loseUnlessAskedFor(attempt: PoolAttempt, worker: PoolWorker): void {
    const { clock } = this;
    const lose = (): void => {
      if (attempt.isUnsent && worker.takesNothing(clock.elapsed())) this.lose(attempt, WAS_LEAVING);
    };
    attempt.cancelExpiry = clock.after(PRESENT_MS, lose);
    lose();
  }

  /** Declares attempts lost that its worker will never ask for. */
  loseWhatIsUnsent(worker: PoolWorker): void {
    for (const attempt of [...worker.attempts]) if (attempt.isUnsent) this.lose(attempt, WAS_LEAVING);
  }

  /** Ends an attempt without a report. Until that is on record, reports are checked against the store. */
  end(attempt: PoolAttempt, outcome: Outcome): void {
    const { token } = attempt;
    this.drop(attempt);
    const { ended } = attempt;
    attempt.ended = null;
    ended?.(outcome, (fate) => {
      if (fate !== "not_owned" && !this.attempts.has(token)) this.reports.remember(token, "stale");
    });
  }

  /**
   * Releases an attempt whose worker has left with a report that nobody could take. If its run wants it, it is expected
   * again.
   */
  setFree(attempt: PoolAttempt): void {
    if (!attempt.isWanted) return this.drop(attempt);
    attempt.leave();
    this.expect(attempt);
  }

  /** A recovery script that runs again has the token of the try before, which may be dropped after it. */
  drop(attempt: PoolAttempt): void {
    if (this.attempts.get(attempt.token) === attempt) this.attempts.delete(attempt.token);
    this.unplaced.delete(attempt);
    attempt.leave();
  }

  findWorkerFor(attempt: PoolAttempt): void {
    this.unplaced.delete(attempt);
    const elapsed = this.clock.elapsed();
    const found = [...this.workers.values()].find(
      (worker) => worker.isPresent(elapsed) && worker.couldRun(attempt.needs),
    );
    if (found === undefined) this.unplaced.add(attempt);
    else attempt.putOn(found);
    found?.wake();
  }

  findWorkersForAll(): void {
    for (const attempt of [...this.unplaced]) this.findWorkerFor(attempt);
  }

  tellRoom(): void {
    for (const listener of this.roomListeners) listener();
  }

  close(): void {
    for (const cancel of this.timers.values()) cancel();
    for (const attempt of this.attempts.values()) attempt.cancelExpiry();
    for (const worker of this.workers.values()) worker.closeClaim();
  }
}

export function unknownWorker(): DarumaError {
  return new DarumaError("WORKER_NOT_FOUND", "this server does not know the worker");
}

const WAS_LEAVING = "it never started: its worker is stopping";
const NEVER_BEGAN = "its worker no longer has it, or never got it, because the server was away";
