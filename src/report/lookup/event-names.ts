import type { Event } from "../../core/model/events.js";
import { jobById, type Run } from "../../core/model/run.js";
import type { Store } from "../../store/store.js";

/** Names of so many runs are kept; older ones are read again. */
const MAX_RUNS_KNOWN = 200;

/** What the job of an event is called: events name jobs by their ids, people and programs know steps. */
export interface EventNames {
  readonly step?: string;
  readonly scope?: string;
}

interface KnownRun {
  readonly names: Map<number, EventNames>;
  /** Ids only grow. */
  lastId: number;
}

const NONE: EventNames = {};

export function namesIn(run: Run, event: Event): EventNames {
  const job = jobOf(event);
  if (job === null) return NONE;
  const { step, scope } = jobById(run, job);
  return { step: step.definition.id, scope: scope.id };
}

/** The names of the jobs of any runs, for one reader of their logs. */
export class JobNames {
  private readonly runs = new Map<number, KnownRun>();

  constructor(private readonly store: Store) {}

  async of(runId: number, event: Event): Promise<EventNames> {
    const job = jobOf(event);
    if (job === null) return NONE;
    const known = this.runs.get(runId) ?? this.remember(runId);
    // A fan-out makes jobs while the run goes on.
    if (job > known.lastId) await this.learn(runId, known);
    return known.names.get(job) ?? NONE;
  }

  private remember(runId: number): KnownRun {
    const known: KnownRun = { names: new Map(), lastId: 0 };
    this.runs.set(runId, known);
    if (this.runs.size > MAX_RUNS_KNOWN) this.runs.delete(this.runs.keys().next().value!);
    return known;
  }

  private async learn(runId: number, known: KnownRun): Promise<void> {
    for (const { id, step, scope } of await this.store.readJobNames(runId, known.lastId)) {
      known.names.set(id, { step, scope });
      known.lastId = id;
    }
  }
}

function jobOf(event: Event): number | null {
  return "job" in event && typeof event.job === "number" ? event.job : null;
}
