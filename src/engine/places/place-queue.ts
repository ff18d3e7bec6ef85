import { isQueued } from "../../core/model/resting.js";
import type { LeaseOwner, Store } from "../../store/store.js";
import type { Clock } from "../clock.js";
import type { RunHost } from "../run-host.js";
import { placeWait } from "./place-text.js";
import { type CancelRun, Replacing } from "./replacing.js";

/** How soon a place is found free that another process has left without telling. */
export const PLACE_POLL_MS = 500;

export interface PlaceQueuePorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly owner: LeaseOwner;
  readonly isDead: (owner: LeaseOwner) => boolean;
  /** Called with a sentence for people. */
  readonly tell?: (text: string) => void;
  /** Without it nothing is ever replaced. */
  readonly cancelRun?: CancelRun;
  /** Whether this engine still speaks for the run. */
  readonly isOurs: (host: RunHost) => boolean;
  /** It has its place. */
  readonly begin: (host: RunHost) => void;
}

/**
 * Runs of this engine that wait for a place in their group. Servers let go of theirs meanwhile and claim them with the
 * place; a run of a program waits here, and as long as its program lives it keeps its turn.
 */
export class PlaceQueue {
  /** What was last told of each. */
  private readonly waiting = new Map<RunHost, string>();
  private readonly replacing: Replacing | null;
  private readonly forgetChanges: () => void;
  private cancelTimer: (() => void) | null = null;
  private looking: Promise<void> | null = null;
  private askedAgain = false;
  private stopped = false;

  constructor(private readonly ports: PlaceQueuePorts) {
    this.replacing = ports.cancelRun === undefined ? null : new Replacing(ports.cancelRun);
    this.forgetChanges = ports.store.onChange(({ kind }) => kind === "wanted" && this.look());
  }

  /** Whether the run needs no place, or has one now. */
  async mayBegin(host: RunHost): Promise<boolean> {
    return !isQueued(host.run) || (host.run.paused === null && this.take(host));
  }

  /** A run that has not begun begins when it has its place. */
  wait(host: RunHost): void {
    if (host.run.managed || !isQueued(host.run) || this.stopped) return;
    this.waiting.set(host, "");
    this.look();
  }

  /** Resolves when no place can be taken any more; a run that has one by then has begun. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelTimer?.();
    this.forgetChanges();
    await this.looking;
  }

  /** One look at a time; what is asked meanwhile is done right after it. */
  private look(): void {
    if (this.stopped || this.waiting.size === 0) return;
    this.askedAgain = true;
    this.looking ??= this.lookAll().finally(() => {
      this.looking = null;
      this.schedule();
    });
  }

  private schedule(): void {
    this.cancelTimer?.();
    if (this.stopped || this.waiting.size === 0) return;
    this.cancelTimer = this.ports.clock.after(PLACE_POLL_MS, () => this.look());
  }

  private async lookAll(): Promise<void> {
    while (this.askedAgain && !this.stopped) {
      this.askedAgain = false;
      for (const host of [...this.waiting.keys()]) {
        if (this.stopped) return;
        // A store that fails now is asked again at the next look.
        await this.lookAt(host).catch(() => {});
      }
    }
  }

  private async lookAt(host: RunHost): Promise<void> {
    const { isOurs, begin } = this.ports;
    const leave = (): boolean => !isOurs(host) || !isQueued(host.run);
    if (leave()) return void this.waiting.delete(host);
    if (await this.take(host)) {
      this.waiting.delete(host);
      if (!leave()) begin(host);
    } else await this.tellWhy(host);
  }

  private async take({ run, fence }: RunHost): Promise<boolean> {
    const { store, clock, owner, isDead } = this.ports;
    const holding = (await store.listOwners()).map((one) => one.owner);
    const deadOwners = holding.filter((one) => one.engine !== owner.engine && isDead(one));
    return store.takePlace({ runId: run.id, fence, now: clock.now(), deadOwners });
  }

  private async tellWhy(host: RunHost): Promise<void> {
    const { store, clock, tell } = this.ports;
    const { id, concurrency } = host.run;
    const members = await store.readGroups([concurrency!.group], clock.now());
    const own = members.find(({ runId }) => runId === id);
    if (own === undefined || own.place !== null) return;
    this.replacing?.cancelBefore([own], members);
    const { text } = placeWait(own, members);
    if (this.waiting.get(host) === text || !this.waiting.has(host)) return;
    this.waiting.set(host, text);
    tell?.(`run ${id} has not started: ${text}`);
  }
}
