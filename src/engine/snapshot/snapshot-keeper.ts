import type { Store } from "../../store/store.js";
import type { RunHost } from "../run-host.js";
import { copyRun, packCopy } from "./pack-run.js";

/** Fewer events are folded in no time. */
const MIN_EVENTS = 20_000;
/**
 * A job that starts and completes has two, so a plain run has none however wide it is: a copy of a job takes 4 us and saves
 * a fraction of the fold of its first two events, which take 10, and the run would be all but over by then.
 */
const EVENTS_PER_JOB = 3;

/**
 * Keeps what long runs have come to beside their logs, so that the next engine that takes one need not begin at its first
 * event. What is worth nothing without its log may fail.
 */
export class SnapshotKeeper {
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: Pick<Store, "putSnapshot">,
    private readonly every: number | null = null,
  ) {}

  /**
   * What is to be done once the commit is in for which the host has just handed over all that it had decided: only now
   * is the run what its log will say. Null: it is too soon.
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

/** Null: it is too large or cannot be written down. The run goes on without. */
function copyOf({ run }: RunHost): Buffer[] | null {
  try {
    return copyRun(run);
  } catch {
    return null;
  }
}
