import { type Extent, LocalRoom } from "../local-room.js";
import type { Needs, Place } from "../worker.js";

type RoomNeeds = Pick<Needs, "slots" | "memoryBytes" | "gpus" | "runtimeMs">;

interface Waiting {
  readonly needs: RoomNeeds;
  readonly begin: (turn: Turn) => void;
}

/** Room that an attempt has; `leave` is called at its end. */
export interface Turn {
  readonly place: Place;
  readonly leave: () => void;
}

/**
 * The room of a remote worker. A server that has just been started may not know of all that runs here: what it gives
 * out beyond the room waits for its turn, in order.
 */
export class SlotQueue {
  private readonly room: LocalRoom;
  private readonly waiting: Waiting[] = [];

  constructor(slots: number, extent: Extent) {
    this.room = new LocalRoom("", slots, { extent: () => extent });
  }

  /** Resolves to null if the signal is aborted before its turn comes. */
  enter(needs: RoomNeeds, signal: AbortSignal): Promise<Turn | null> {
    return new Promise((resolve) => {
      const waiting: Waiting = { needs, begin: resolve };
      if (needs.slots === 0) return this.letIn(waiting);
      this.waiting.push(waiting);
      const giveUp = (): void => {
        const at = this.waiting.indexOf(waiting);
        if (at < 0) return;
        this.waiting.splice(at, 1);
        resolve(null);
        this.letInNext();
      };
      signal.addEventListener("abort", giveUp, { once: true });
      if (signal.aborted) giveUp();
      else this.letInNext();
    });
  }

  private letInNext(): void {
    for (let first = this.waiting[0]; first !== undefined; first = this.waiting[0]) {
      if (!this.letIn(first)) return;
      this.waiting.shift();
    }
  }

  private letIn({ needs, begin }: Waiting): boolean {
    const place = this.room.place(needs);
    if (place === "full" || place === null) return false;
    const leave = (): void => {
      this.room.release(place);
      this.letInNext();
    };
    begin({ place, leave });
    return true;
  }
}
