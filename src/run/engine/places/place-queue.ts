import { DarumaError } from "../../../core/errors/errors.js";
import type { OperatorCommand } from "../../../core/model/commands.js";
import { isQueued } from "../../../core/model/resting.js";
import type { GroupMember } from "../../../store/group-slots.js";
import type { LeaseOwner, Store } from "../../../store/store.js";
import type { Clock } from "../clock.js";
import { changesOf, Loop } from "../loop.js";
import type { RunHost } from "../run-host.js";
import { placeWait } from "./place-text.js";

/** Cancels a run, whichever process runs it. */
export type CancelRun = (
  runId: number,
  command: Extract<OperatorCommand, { type: "run.cancel" }>,
) => Promise<unknown>;

/**
 * Cancels the runs that ones with `policy: cancel_running` replace. The command's key ensures that it is executed once,
 * however many processes send it.
 */
export class Replacing {
  private readonly underWay = new Set<string>();

  constructor(private readonly cancel: CancelRun) {}

  /** Cancels, for each of these waiting runs, all earlier runs of its group. */
  cancelBefore(waiting: readonly GroupMember[], members: readonly GroupMember[]): void {
    for (const { runId, concurrency, place, status } of waiting) {
      if (concurrency.policy !== "cancel_running" || place !== null || status !== "pending") continue;
      for (const other of members)
        if (other.concurrency.group === concurrency.group && other.runId < runId)
          void this.cancelOne(other.runId, runId, concurrency.group);
    }
  }

  private async cancelOne(runId: number, by: number, group: string): Promise<void> {
    const key = `replaced-by/${by}`;
    const mark = `${runId} ${key}`;
    if (this.underWay.has(mark)) return;
    this.underWay.add(mark);
    try {
      await this.cancel(runId, {
        type: "run.cancel",
        reason: `run ${by} of the group ${group} replaces it`,
        key,
      });
    } catch (error) {
      // It is over by now. After any other error it is tried again in the next round.
      if (!(error instanceof DarumaError && error.code === "RUN_OVER")) this.underWay.delete(mark);
    }
  }
}

/** How soon a place is noticed that another process has freed without a notification. */
const PLACE_POLL_MS = 500;

interface PlaceQueuePorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly owner: LeaseOwner;
  readonly isDead: (owner: LeaseOwner) => boolean;
  /** Called with a sentence for people. */
  readonly tell?: (text: string) => void;
  /** Without it no run is ever replaced. */
  readonly cancelRun?: CancelRun;
  /** Whether this engine still speaks for the run. */
  readonly isOurs: (host: RunHost) => boolean;
  /** Called when the run has its place. */
  readonly begin: (host: RunHost) => void;
}

/**
 * Runs of this engine that wait for a place in their group. Servers release theirs meanwhile and claim them again
 * together with the place. A program's run waits here, and keeps its turn as long as the program lives.
 */
export class PlaceQueue {
  /** The last message about each. */
  private readonly waiting = new Map<RunHost, string>();
  private readonly replacing: Replacing | null;
  private readonly loop: Loop;

  constructor(private readonly ports: PlaceQueuePorts) {
    this.replacing = ports.cancelRun === undefined ? null : new Replacing(ports.cancelRun);
    this.loop = new Loop(ports.clock, {
      turn: () => this.lookAll(),
      restMs: () => (this.waiting.size === 0 ? null : PLACE_POLL_MS),
      wokenBy: changesOf(ports.store, "wanted"),
    });
  }

  /** Whether the run needs no place, or has one now. */
  async mayBegin(host: RunHost): Promise<boolean> {
    return !isQueued(host.run) || (host.run.paused === null && this.take(host));
  }

  /** Starts waiting. The run begins when it has its place. */
  wait(host: RunHost): void {
    if (host.run.managed || !isQueued(host.run) || this.loop.isStopped) return;
    this.waiting.set(host, "");
    this.loop.wake();
  }

  /** Resolves when no place can be taken any more. A run that has one by then has begun. */
  stop(): Promise<void> {
    return this.loop.stop();
  }

  private async lookAll(): Promise<void> {
    for (const host of [...this.waiting.keys()]) {
      if (this.loop.isStopped) return;
      // A failing store is tried again in the next round.
      await this.lookAt(host).catch(() => {});
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
    return store.takeSlot({ runId: run.id, fence, now: clock.now(), deadOwners });
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
