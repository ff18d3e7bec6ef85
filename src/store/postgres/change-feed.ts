import type { ChangeListeners } from "../change-listeners.js";
import type { StoreChange } from "../store.js";
import type { Database } from "./database.js";

const PAYLOAD = /^(events|inbox|answer|wanted|revoked|shared):(\d+):(.*)$/;

/**
 * What other store objects have committed. The connection that listens is opened for the first listener. While it is
 * broken nothing arrives, and what was missed is not told later: whoever waits must also look from time to time.
 */
export class ChangeFeed {
  #isListening = false;

  constructor(
    private readonly db: Database,
    private readonly listeners: ChangeListeners,
    /** The name under which this object notifies; its own changes it tells itself, at once. */
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
