import type { Store } from "../../../store/store.js";
import type { RunHost } from "../run-host.js";
import { copyRun, packCopy } from "./pack-run.js";

/** Fewer events are folded in no time. */
const MIN_EVENTS = 20_000;
/**
 * A job that starts and completes has two events, so a plain run gets no snapshot however wide it is: copying a job
 * takes 4 us and saves a fraction of folding its first two events, which takes 10, and the run would be nearly over by
 * then.
 */
const EVENTS_PER_JOB = 3;

/**
 * Saves the state of long runs beside their logs, so that the next engine that takes one need not begin at its first
 * event. Saving may fail, because the log suffices.
 */
export class SnapshotKeeper {
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: Pick<Store, "putSnapshot">,
    private readonly every: number | null = null,
  ) {}

  /**
   * Returns what to do after the commit of the decisions that the host has just handed over: only now does the run
   * match its future log. Null if it is too soon.
   */
  take(host: RunHost): (() => void) | null {
    const { run, lastSeq } = host;
    const every = this.every ?? Math.max(MIN_EVENTS, EVENTS_PER_JOB * run.jobs.length);
    if (host.isOver || lastSeq - host.snapshotSeq < every) return null;
    host.snapshotSeq = lastSeq;
    const copy = copyOf(host);
    if (copy === null) return null;
    return () => {
      this.writing = this.writing
        .then(() => packCopy(copy, run.id, lastSeq))
        .then((snapshot) => this.store.putSnapshot(snapshot))
        .catch(() => {});
    };
  }
}

/** A copy of the run; null if it is too large or cannot be serialised. The run continues without a snapshot. */
function copyOf({ run }: RunHost): Buffer[] | null {
  try {
    return copyRun(run);
  } catch {
    return null;
  }
}
