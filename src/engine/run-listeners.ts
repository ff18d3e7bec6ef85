import type { LoggedEvent } from "../core/model/events.js";
import type { Run } from "../core/model/run.js";

/** Called with committed events, in order. */
export type RunListener = (run: Run, events: readonly LoggedEvent[]) => void;

/** A commit to a run that no engine has, and that was loaded for it alone. */
export interface BesideCommit {
  readonly run: Run;
  /** What is to be recalled of the run's log before it. */
  readonly log: readonly LoggedEvent[];
  readonly events: readonly LoggedEvent[];
}

/** Those who want to know. A listener's fault is its own. */
export class RunListeners {
  private readonly listeners = new Set<RunListener>();
  private readonly ofLoaded = new Set<RunListener>();

  add(listener: RunListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** To be called with what is to be recalled of a run that others have run before, ahead of anything new of it. */
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
