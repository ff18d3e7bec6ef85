import type { ChangeListeners } from "../change-listeners.js";
import { changesQueue } from "../group-slots.js";
import type { Append, StoreChange } from "../store.js";
import { nameChange } from "./commit/commit-queue.js";
import type { Session } from "./connection-pool.js";
import { type Database, toArrayLiteral } from "./database.js";

/** Changes within this time are announced together. */
export const TOLD_TOGETHER_MS = 25;
const TELL = "SELECT pg_notify(current_schema(), change) FROM unnest($1::text[]) AS change";

/**
 * Announces commits to other store objects. A commit that notifies makes all others in the database that do so wait for
 * it, so a commit shortly after another leaves its announcement to a later statement. That is sent only when the commit
 * is in, so that listeners find the change. Changes of a run's row are announced in the commit itself. Nobody waits in
 * vain if this process dies before a later announcement: an unfinished run is taken over by another process, which
 * commits, and the end of a run changes its row.
 */
export class Announcements {
  readonly #late = new Set<string>();
  #toldAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    /** The name with which this store object notifies. */
    private readonly sender: string,
    /** Called when collected changes should be announced. */
    private readonly onDue: () => void,
    private readonly elapsed: () => number = () => performance.now(),
  ) {}

  /** The changes that a commit announces in its own transaction. */
  within(appends: readonly Append[]): string[] {
    const isQuiet = this.elapsed() - this.#toldAt >= TOLD_TOGETHER_MS;
    return this.#changesOf(appends.filter(({ run }) => isQuiet || run !== null));
  }

  /** Records that a commit is in, and which of its changes it has announced. */
  committed(appends: readonly Append[], told: readonly string[]): void {
    if (told.length > 0) this.#toldAt = this.elapsed();
    for (const change of this.#changesOf(appends)) this.#late.add(change);
    for (const change of told) this.#late.delete(change);
    if (this.#late.size > 0) this.#timer ??= setTimeout(this.onDue, TOLD_TOGETHER_MS).unref();
  }

  /** Announces the remaining changes. */
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

const PAYLOAD = /^(events|inbox|answer|wanted|revoked|shared):(\d+):(.*)$/;

/**
 * Receives changes committed by other store objects. The listening connection is opened for the first listener. While
 * it is broken nothing arrives, and missed changes are not repeated, so a waiting caller must also check from time to
 * time.
 */
export class ChangeFeed {
  #isListening = false;

  constructor(
    private readonly db: Database,
    private readonly listeners: ChangeListeners,
    /** The name with which this object notifies. Its own changes it reports itself, at once. */
    readonly sender: string,
  ) {}

  add(listener: (change: StoreChange) => void): () => void {
    if (!this.#isListening) {
      this.#isListening = true;
      this.db.listen((payload) => this.#hear(payload));
    }
    return this.listeners.add(listener);
  }

  #hear(payload: string): void {
    const [, kind, runId, sender] = PAYLOAD.exec(payload) ?? [];
    if (kind === undefined || sender === this.sender) return;
    this.listeners.tell(kind as StoreChange["kind"], Number(runId));
  }
}
