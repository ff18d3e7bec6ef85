import type { Event, LoggedEvent } from "../../core/model/events.js";
import { jobById, type Run } from "../../core/model/run.js";
import type { Store } from "../../store/store.js";

/** Names of so many runs are kept; older ones are read again. */
const MAX_RUNS_KNOWN = 200;
const NAMES_PER_READ = 1_000;
/** So that a long log takes no more memory than a short one. */
const MAX_JOBS_KNOWN = 20_000;

/** What the job of an event is called: events name jobs by their ids, people and programs know steps. */
export interface EventNames {
  readonly step?: string;
  readonly scope?: string;
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
  private readonly runs = new Map<number, Map<number, EventNames>>();

  constructor(private readonly store: Store) {}

  async of(runId: number, event: Event): Promise<EventNames> {
    const found = this.known(runId, event);
    if (found !== null) return found;
    const job = jobOf(event)!;
    const names = this.runs.get(runId) ?? this.remember(runId);
    await this.learn(runId, job, names);
    return names.get(job) ?? NONE;
  }

  /** Without waiting; null: they must be asked for. */
  known(runId: number, event: Event): EventNames | null {
    const job = jobOf(event);
    return job === null ? NONE : (this.runs.get(runId)?.get(job) ?? null);
  }

  private remember(runId: number): Map<number, EventNames> {
    const known = new Map<number, EventNames>();
    this.runs.set(runId, known);
    if (this.runs.size > MAX_RUNS_KNOWN) this.runs.delete(this.runs.keys().next().value!);
    return known;
  }

  /** All that a page needs at once, if its jobs were made together. Whatever is missing then is asked for by `of`. */
  async learnPage(runId: number, page: readonly LoggedEvent[]): Promise<void> {
    let [first, last] = [Number.POSITIVE_INFINITY, 0];
    for (const { event } of page) {
      const job = jobOf(event);
      if (job === null) continue;
      first = Math.min(first, job);
      last = Math.max(last, job);
    }
    const jobs = last - first + 1;
    if (jobs > 0 && jobs <= NAMES_PER_READ) await this.read(runId, first - 1, jobs);
  }

  /** Looks a job up together with its neighbours, since nearby events are about jobs that were created together. */
  private async learn(runId: number, job: number, known: Map<number, EventNames>): Promise<void> {
    if (known.size >= MAX_JOBS_KNOWN) known.clear();
    await this.read(runId, job - 1 - (job % NAMES_PER_READ), NAMES_PER_READ);
  }

  private async read(runId: number, afterId: number, limit: number): Promise<void> {
    const known = this.runs.get(runId) ?? this.remember(runId);
    for (const { id, step, scope } of await this.store.readJobNames(runId, { afterId, limit }))
      known.set(id, { step, scope });
  }
}

function jobOf(event: Event): number | null {
  return "job" in event && typeof event.job === "number" ? event.job : null;
}

type NamingStore = Pick<Store, "readEvents" | "readJobNames">;

/** What the items of fan-outs are called: their values, read once for each list. */
export class ItemNames {
  private readonly lists = new Map<string, Promise<readonly string[]>>();

  constructor(private readonly store: NamingStore) {}

  /** `img-0197.jpg`, or `eu / berlin` in a fan-out within another; null: the job is of no item. */
  async nameOf(runId: number, scope: string): Promise<string | null> {
    const [slash, bracket] = [scope.lastIndexOf("/"), scope.lastIndexOf("[")];
    if (slash < 0 || bracket < slash) return null;
    const outer = scope.slice(0, slash);
    const place = scope.slice(bracket + 1, -1);
    const list = await this.namesIn(runId, outer, scope.slice(slash + 1, bracket));
    const around = await this.nameOf(runId, outer);
    const name = list[Number(place)] ?? place;
    return around === null ? name : `${around} / ${name}`;
  }

  private namesIn(runId: number, scope: string, step: string): Promise<readonly string[]> {
    const key = JSON.stringify([runId, scope, step]);
    const known = this.lists.get(key) ?? this.read(runId, scope, step);
    this.lists.set(key, known);
    return known;
  }

  private async read(runId: number, scope: string, step: string): Promise<readonly string[]> {
    const openers = await this.store.readJobNames(runId, { step });
    const opener = openers.find((job) => job.scope === scope);
    if (opener === undefined) return [];
    const opened = await this.store.readEvents(runId, { job: opener.id, types: ["scopes.opened"] });
    const last = opened.at(-1)?.event;
    return last?.type === "scopes.opened" ? last.items.map(({ key, name }) => name ?? key) : [];
  }
}
