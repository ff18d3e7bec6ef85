import { changesQueue } from "../places.js";
import type { Append } from "../store.js";
import { nameChange } from "./commit/commit-payload.js";
import type { Session } from "./connection-pool.js";
import { toArrayLiteral } from "./database.js";

/** Changes of this long are told together. */
export const TOLD_TOGETHER_MS = 25;
const TELL = "SELECT pg_notify(current_schema(), change) FROM unnest($1::text[]) AS change";

/**
 * Tells other store objects of commits. One that notifies makes all others that do wait for it, in the whole database,
 * so a commit that soon follows another leaves it to a later statement of its own. That is sent only when the commit is
 * in: whoever looks because of it finds what it is about. What changes the row of a run is told with the commit itself.
 * So nobody waits in vain where this process dies meanwhile: a run that is not over is taken up by another, which
 * commits, and the end of a run is a change of its row.
 */
export class Announcements {
  readonly #late = new Set<string>();
  #toldAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    /** The name under which this store object notifies. */
    private readonly sender: string,
    /** Call this when the changes of some time are to be told. */
    private readonly onDue: () => void,
    private readonly elapsed: () => number = () => performance.now(),
  ) {}

  /** What a commit tells in its own transaction. */
  within(appends: readonly Append[]): string[] {
    const isQuiet = this.elapsed() - this.#toldAt >= TOLD_TOGETHER_MS;
    return this.#changesOf(appends.filter(({ run }) => isQuiet || run !== null));
  }

  /** The commit is in, and has told that much. */
  committed(appends: readonly Append[], told: readonly string[]): void {
    if (told.length > 0) this.#toldAt = this.elapsed();
    for (const change of this.#changesOf(appends)) this.#late.add(change);
    for (const change of told) this.#late.delete(change);
    if (this.#late.size > 0) this.#timer ??= setTimeout(this.onDue, TOLD_TOGETHER_MS).unref();
  }

  /** Tell what has not been told yet. */
  async tellRest(session: Session): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const changes = [...this.#late];
    this.#late.clear();
    if (changes.length === 0) return;
    this.#toldAt = this.elapsed();
    try {
      await session.rows(TELL, toArrayLiteral(changes));
    } catch (error) {
      for (const change of changes) this.#late.add(change);
      throw error;
    }
  }

  #changesOf(appends: readonly Append[]): string[] {
    const changes = new Set<string>();
    for (const { runId, events, run } of appends) {
      if (events.length > 0) changes.add(nameChange("events", runId));
      if (run !== null && (run.wanted || changesQueue(run))) changes.add(nameChange("wanted", runId));
    }
    return [...changes].map((change) => `${change}:${this.sender}`);
  }
}
