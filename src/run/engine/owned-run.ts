import type { Run } from "../../core/model/run.js";
import type { Store } from "../../store/store.js";
import type { Clock } from "./clock.js";
import type { Effects } from "./effects.js";
import type { LeaseKeeper } from "./lease-keeper.js";
import { type RunHost, stoppedError } from "./run-host.js";
import type { RunListeners } from "./run-listeners.js";

/** A run that this engine has taken. `ended` settles when it is over, or rests. */
export interface OwnedRun {
  readonly runId: number;
  readonly run: Run;
  readonly ended: Promise<Run>;
}

/** Called when a run is lost to this engine, after its local work has ended. */
export type LossListener = (run: Run, error: unknown) => void;

/** Who lifts a pause by taking a run, and why. */
export interface Resumed {
  readonly reason?: string;
  readonly key?: string | null;
  readonly by?: string;
}

interface LettingGo {
  readonly store: Store;
  readonly clock: Pick<Clock, "now">;
  readonly effects: Pick<Effects, "release">;
  readonly leases: Pick<LeaseKeeper, "release">;
  readonly listeners: RunListeners;
  /** Runs that nobody in this process may take meanwhile. */
  readonly taking: Set<number>;
}

/**
 * Releases unfinished runs. Attempts that depend on this engine are ended, and the process that resumes the runs starts
 * them again.
 */
export async function letGo(hosts: readonly RunHost[], from: LettingGo): Promise<void> {
  for (const { run } of hosts) from.taking.add(run.id);
  const kept = Promise.all(hosts.map((host) => from.effects.release(host.run)));
  // Otherwise the attempt that waits for a child run would wait forever.
  for (const host of hosts) if (host.run.parent !== null) host.lose(stoppedError(host.run.id));
  const keptOf = await kept;
  for (const [index, host] of hosts.entries()) {
    // If the store fails now, the attempts remain as lost, which a resume also handles.
    await interrupt(host, keptOf[index]!, from).catch(() => {});
    await from.leases.release(host.run.id);
    from.taking.delete(host.run.id);
  }
}

async function interrupt(
  host: RunHost,
  kept: readonly number[],
  { store, clock, listeners }: LettingGo,
): Promise<void> {
  host.take({ type: "run.interrupt", kept }, clock.now());
  if (host.hasPending) await writeLast(host, store, listeners);
}

/** Writes the decisions of a host that no longer belongs to an engine, at once and separately. */
export async function writeLast(host: RunHost, store: Store, listeners: RunListeners): Promise<void> {
  const drained = host.drain();
  await store.commit([drained.append]);
  listeners.tell(host.run, drained.events);
}
