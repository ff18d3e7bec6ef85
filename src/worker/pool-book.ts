import { DarumaError } from "../core/errors.js";
import type { TimerPort } from "./attempt-timers.js";
import type { PoolAttempt } from "./pool-attempt.js";
import type { PoolReports } from "./pool-reports.js";
import type { PoolWorker } from "./pool-worker.js";

/** Who is registered and what is on whom. A silent worker is struck off, and its attempts are lost. */
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
    if (worker === undefined)
      throw new DarumaError("WORKER_NOT_FOUND", "this server does not know the worker");
    return worker;
  }

  heldBy(workerId: string, token: string): PoolAttempt {
    const worker = this.known(workerId);
    this.seen(worker);
    const attempt = this.attempts.get(token);
    if (attempt?.worker === worker) return attempt;
    if (attempt === undefined && !this.reports.isOver(token))
      throw new DarumaError("RUN_NOT_HERE", "the attempt's run is not here yet");
    throw new DarumaError("STALE_ATTEMPT", "the attempt is not this worker's any more");
  }

  isHere(label: string): boolean {
    for (const worker of this.workers.values()) if (worker.label === label) return true;
    return false;
  }

  seen(worker: PoolWorker): void {
    worker.lastSeenAt = this.clock.now();
    if (this.timers.has(worker)) return;
    const watch = (): void => {
      const dueAt = worker.lastSeenAt + this.leaseMs;
      if (this.clock.now() >= dueAt)
        return this.remove(worker, `its worker was silent for ${this.leaseMs} ms`);
      this.timers.set(worker, this.clock.setTimer(dueAt, watch));
    };
    this.timers.set(worker, this.clock.setTimer(worker.lastSeenAt + this.leaseMs, watch));
  }

  remove(worker: PoolWorker, why: string): void {
    this.workers.delete(worker.id);
    this.timers.get(worker)?.();
    this.timers.delete(worker);
    worker.closeClaim();
    for (const attempt of [...worker.attempts]) this.lose(attempt, why);
  }

  /** An attempt of an earlier engine: some worker has it, or will come back with it, or it is lost. */
  expect(attempt: PoolAttempt): void {
    for (const worker of this.workers.values())
      if (worker.strays.has(attempt.token)) return attempt.putOn(worker);
    const { held } = attempt;
    // Its worker is here and has no such attempt: it was on its way when the server that sent it died.
    const neverBegan = this.isHere(held.worker) && !held.recovery;
    const why = neverBegan ? NEVER_BEGAN : `its worker has not come back in ${this.leaseMs} ms`;
    const dueAt = this.clock.now() + (neverBegan ? 0 : this.leaseMs);
    attempt.cancelExpiry = this.clock.setTimer(dueAt, () => this.lose(attempt, why));
  }

  /** The worker has come back without them. */
  loseWhatNeverArrived(worker: PoolWorker): void {
    for (const attempt of [...this.attempts.values()])
      if (attempt.worker === null && attempt.held.worker === worker.label && !attempt.held.recovery)
        this.lose(attempt, NEVER_BEGAN);
  }

  lose(attempt: PoolAttempt, why: string): void {
    // What has arrived is decided by the engine.
    if (attempt.reporting !== null) return;
    this.forget(attempt);
    attempt.settle({ result: { kind: "failed", facts: { lost: true, message: why } }, durationMs: 0 });
  }

  forget(attempt: PoolAttempt): void {
    this.reports.remember(attempt.token, "stale");
    this.drop(attempt);
  }

  drop(attempt: PoolAttempt): void {
    this.attempts.delete(attempt.token);
    this.unplaced.delete(attempt);
    attempt.leave();
  }

  findWorkerFor(attempt: PoolAttempt): void {
    this.unplaced.delete(attempt);
    const now = this.clock.now();
    const found = [...this.workers.values()].find(
      (worker) => worker.isPresent(now) && worker.couldRun(attempt.needs),
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

const NEVER_BEGAN = "it never began: its server died before the worker had it";
