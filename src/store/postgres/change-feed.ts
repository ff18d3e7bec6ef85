import type { ChangeListeners } from "../change-listeners.js";
import type { StoreChange } from "../store.js";
import type { Database } from "./database.js";

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
