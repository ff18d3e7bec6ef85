import { LocalRoom } from "../local-room.js";

interface Waiting {
  readonly slots: number;
  readonly begin: (leave: () => void) => void;
}

/**
 * The slots of a remote worker. A server that has just been started may not know of all that runs here: what it gives
 * out beyond the slots waits for its turn, in order.
 */
export class SlotQueue {
  private readonly room: LocalRoom;
  private readonly waiting: Waiting[] = [];

  constructor(slots: number) {
    this.room = new LocalRoom("", slots);
  }

  /** Resolves to what must be called at the end; to null if the signal is aborted before its turn comes. */
  enter(slots: number, signal: AbortSignal): Promise<(() => void) | null> {
    if (slots === 0) return Promise.resolve(() => {});
    return new Promise((resolve) => {
      const waiting: Waiting = { slots, begin: resolve };
      this.waiting.push(waiting);
      const giveUp = (): void => {
        const at = this.waiting.indexOf(waiting);
        if (at < 0) return;
        this.waiting.splice(at, 1);
        resolve(null);
        this.letIn();
      };
      signal.addEventListener("abort", giveUp, { once: true });
      if (signal.aborted) giveUp();
      else this.letIn();
    });
  }

  private letIn(): void {
    for (let first = this.waiting[0]; first !== undefined; first = this.waiting[0]) {
      const place = this.room.place(first);
      if (place === "full") return;
      this.waiting.shift();
      first.begin(() => {
        this.room.release(place);
        this.letIn();
      });
    }
  }
}
