import type { LoggedEvent } from "../../core/model/events.js";
import type { Run } from "../../core/model/run.js";

/** Called with committed events, in order. */
export type RunListener = (run: Run, events: readonly LoggedEvent[]) => void;

/** A commit to a run that no engine owns, and that was loaded only for it. */
export interface BesideCommit {
  readonly run: Run;
  /** The earlier part of the run's log that counters need. */
  readonly log: readonly LoggedEvent[];
  readonly events: readonly LoggedEvent[];
}

/** The listeners for committed events. An error in a listener affects only itself. */
export class RunListeners {
  private readonly listeners = new Set<RunListener>();
  private readonly ofLoaded = new Set<RunListener>();

  add(listener: RunListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * Adds a listener for the earlier log of a run that others have run before. It is called before anything new of the
   * run.
   */
  addForLoaded(listener: RunListener): () => void {
    this.ofLoaded.add(listener);
    return () => this.ofLoaded.delete(listener);
  }

  tell(run: Run, events: readonly LoggedEvent[]): void {
    tellAll(this.listeners, run, events);
  }

  get wantLoaded(): boolean {
    return this.ofLoaded.size > 0;
  }

  tellLoaded(run: Run, log: readonly LoggedEvent[]): void {
    tellAll(this.ofLoaded, run, log);
  }

  tellBeside({ run, log, events }: BesideCommit): void {
    this.tellLoaded(run, log);
    this.tell(run, events);
  }
}

function tellAll(listeners: Iterable<RunListener>, run: Run, events: readonly LoggedEvent[]): void {
  for (const listener of listeners) {
    try {
      listener(run, events);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}
