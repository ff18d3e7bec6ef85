import { DarumaError, type ErrorCode } from "../../core/errors/errors.js";
import type { Run } from "../../core/model/run.js";
import type { HeldLease, HoldingOwner, LeaseOwner, Store } from "../../store/store.js";
import type { Worker } from "../worker.js";
import type { Clock } from "./clock.js";
import type { Engine } from "./engine.js";
import { DEFAULT_LEASE_MS } from "./lease-keeper.js";
import { changesOf, Loop } from "./loop.js";
import type { OwnedRun } from "./owned-run.js";
import { type CancelRun, Replacing } from "./places/place-queue.js";
import { RunExchange } from "./run-exchange.js";
import { isElsewhere } from "./workspace/workspace-keeper.js";

/** No living owner leaves its leases unrenewed for so long, whatever their length. */
export const SILENT_MS = 600_000;
const LEASES_UNRENEWED = 3;

/**
 * Finds owners that must be gone because they have renewed nothing for so long on the monotonic clock, although their
 * leases have not expired: the clock of the leases was set back since.
 */
export class SilentOwners {
  private readonly seen = new Map<string, { readonly mark: number; readonly at: number }>();

  constructor(
    private readonly clock: Clock,
    private readonly leaseMs = DEFAULT_LEASE_MS,
  ) {}

  /** Returns the engines of such owners. Call it repeatedly: it remembers what it saw. */
  among(holding: readonly HoldingOwner[]): ReadonlySet<string> {
    const now = this.clock.elapsed();
    const present = new Set(holding.map(({ owner }) => owner.engine));
    for (const engine of [...this.seen.keys()]) if (!present.has(engine)) this.seen.delete(engine);
    const silent = new Set<string>();
    for (const { owner, mark } of holding) {
      const known = this.seen.get(owner.engine);
      if (known?.mark !== mark) this.seen.set(owner.engine, { mark, at: now });
      else if (now - known.at >= Math.max(SILENT_MS, this.leaseMs * LEASES_UNRENEWED))
        silent.add(owner.engine);
    }
    return silent;
  }
}

/** How soon a run without a notification is found. */
export const CLAIM_POLL_MS = 2_000;
/** How soon the end of another server on this host is noticed, however it ended. */
export const NEIGHBOUR_POLL_MS = 250;
/** How many runs are taken at a time. The rest follow at once. */
const CLAIM_LIMIT = 50;
const FIRST_RETAKE_MS = 100;
const MAX_RETAKE_MS = 30_000;
/** When to retry a run whose workspace could not be reached. */
const LEFT_ALONE_MS = 30_000;
/** A run that was kept this long is no longer considered to be in trouble. */
const STEADY_MS = 60_000;

/** Somebody else has the run, or it no longer exists. */
const GIVEN_UP: readonly string[] = ["RUN_OWNED", "LEASE_LOST", "RUN_NOT_FOUND"];

interface Retake {
  delayMs: number;
  takenAt: number | null;
  cancel: (() => void) | null;
}

interface RunClaimerOptions {
  readonly store: Store;
  readonly engine: Engine;
  readonly clock: Clock;
  /** The same owner as the engine's. */
  readonly owner: LeaseOwner;
  readonly isDead: (owner: LeaseOwner) => boolean;
  readonly leaseMs?: number;
  /** The engine's worker. Runs for which it has room are taken from servers that have none. */
  readonly worker: Worker;
  /** Whether this server can access a file or folder that such a run needs. */
  readonly sees?: (path: string) => boolean;
  /** Cancels a run, whichever process runs it: for runs that replace others of their group. */
  readonly cancelRun?: CancelRun;
  /** Called with each run that this engine has taken. */
  readonly onTaken?: (owned: OwnedRun) => void;
}

/**
 * Takes every run that servers continue by themselves and that nobody has: new ones, those whose server died or
 * released them, and those that this engine lost because the store failed for a moment.
 */
export class RunClaimer {
  private readonly loop: Loop;
  private forgetLosses: () => void = () => {};
  private cancelWatch: (() => void) | null = null;
  /** Owners of runs that were alive when last checked. */
  private neighbours: readonly LeaseOwner[] = [];
  /** Runs whose workspace cannot be reached, and until when they are left to others. */
  private readonly leftAlone = new Map<number, number>();
  /** Runs that this engine had to release, or could not take. */
  private readonly retakes = new Map<number, Retake>();

  private readonly exchange: RunExchange;
  private readonly silent: SilentOwners;
  private readonly replacing: Replacing | null;

  constructor(private readonly options: RunClaimerOptions) {
    this.loop = new Loop(options.clock, {
      turn: () => this.claimSome(),
      restMs: () => CLAIM_POLL_MS,
      wokenBy: changesOf(options.store, "wanted"),
    });
    this.silent = new SilentOwners(options.clock, options.leaseMs);
    this.replacing = options.cancelRun === undefined ? null : new Replacing(options.cancelRun);
    this.exchange = new RunExchange({
      ...options,
      leftAlone: () => this.runsLeftAlone(),
      take: (run) => this.take(run.runId, () => options.engine.takeClaimed(run)),
    });
  }

  /** Resolves when the runs that were available have been taken. */
  async start(): Promise<void> {
    this.forgetLosses = this.options.engine.onLost((run, error) => this.lost(run, error));
    this.exchange.start();
    this.loop.wake();
    await this.loop.idle();
  }

  /** Resolves when no claim is in progress. */
  async stop(): Promise<void> {
    const stopped = this.loop.stop();
    this.cancelWatch?.();
    for (const { cancel } of this.retakes.values()) cancel?.();
    this.forgetLosses();
    await Promise.all([stopped, this.exchange.stop()]);
  }

  private async claimSome(): Promise<void> {
    // A failing store is tried again at the next poll.
    const claimed = await this.claim().catch(() => []);
    await Promise.all(claimed.map((run) => this.take(run.runId, () => this.options.engine.takeClaimed(run))));
    if (claimed.length === CLAIM_LIMIT) this.loop.wake();
    this.watchNeighbours();
  }

  /** Claims runs. The lease of an owner that died on this host need not expire first. */
  private async claim(): Promise<readonly HeldLease[]> {
    const { store, engine, clock, owner, isDead, leaseMs = DEFAULT_LEASE_MS } = this.options;
    const holding = (await store.listOwners()).filter((one) => one.owner.engine !== owner.engine);
    const others = holding.map((one) => one.owner);
    const silent = this.silent.among(holding);
    const deadOwners = others.filter((other) => isDead(other) || silent.has(other.engine));
    this.neighbours = others.filter((other) => !deadOwners.includes(other));
    const now = clock.now();
    await this.replace(now);
    // Taking such a run again would invalidate what the store is about to accept.
    const except = [...this.runsLeftAlone(), ...engine.commits.untaken.runIds()];
    return store.claimRuns({ owner, now, expiresAt: now + leaseMs, limit: CLAIM_LIMIT, deadOwners, except });
  }

  /** Cancels the runs that a server's run replaces. The first server to notice does it. */
  private async replace(now: number): Promise<void> {
    if (this.replacing === null) return;
    const members = await this.options.store.readGroups(null, now);
    this.replacing.cancelBefore(
      members.filter(({ managed }) => managed),
      members,
    );
  }

  private runsLeftAlone(): number[] {
    const elapsed = this.options.clock.elapsed();
    for (const [runId, until] of this.leftAlone) if (until <= elapsed) this.leftAlone.delete(runId);
    return [...this.leftAlone.keys()];
  }

  /** Checks the owners' processes, which is nearly free; the store is asked only now and then. */
  private watchNeighbours(): void {
    const { clock, isDead } = this.options;
    this.cancelWatch?.();
    if (this.loop.isStopped || this.neighbours.length === 0) return;
    this.cancelWatch = clock.after(NEIGHBOUR_POLL_MS, () => {
      if (this.neighbours.some(isDead)) this.loop.wake();
      else this.watchNeighbours();
    });
  }

  private lost({ id, managed }: Run, error: unknown): void {
    // A run whose cause was taken was never created.
    if (managed && !isOf(error, "LEASE_LOST") && !isOf(error, "CAUSE_TAKEN")) this.retakeLater(id);
  }

  /**
   * Tries again later, with growing delays until the run has stayed for a while: what fails at once fails again at
   * once.
   */
  private retakeLater(runId: number): void {
    const { clock, engine } = this.options;
    const retake = this.retakes.get(runId) ?? { delayMs: FIRST_RETAKE_MS / 2, takenAt: null, cancel: null };
    if (this.loop.isStopped || retake.cancel !== null) return;
    const wasSteady = retake.takenAt !== null && clock.elapsed() - retake.takenAt >= STEADY_MS;
    retake.delayMs = wasSteady ? FIRST_RETAKE_MS : Math.min(retake.delayMs * 2, MAX_RETAKE_MS);
    retake.cancel = clock.after(retake.delayMs, () => {
      retake.cancel = null;
      void this.take(runId, () => engine.retake(runId));
    });
    this.retakes.set(runId, retake);
  }

  /** Leaves the run alone for a while, because another server may have what this one lacks. */
  private leave(runId: number): void {
    this.retakes.delete(runId);
    this.leftAlone.set(runId, this.options.clock.elapsed() + LEFT_ALONE_MS);
  }

  private async take(runId: number, take: () => Promise<OwnedRun>): Promise<void> {
    if (this.loop.isStopped) return;
    try {
      const owned = await take();
      const retake = this.retakes.get(runId);
      if (retake !== undefined) retake.takenAt = this.options.clock.elapsed();
      this.options.onTaken?.(owned);
    } catch (error) {
      const code = error instanceof DarumaError ? error.code : null;
      if (isElsewhere(error)) this.leave(runId);
      else if (code === null || !GIVEN_UP.includes(code)) this.retakeLater(runId);
      else this.retakes.delete(runId);
    }
  }
}

function isOf(error: unknown, code: ErrorCode): boolean {
  return error instanceof DarumaError && error.code === code;
}
