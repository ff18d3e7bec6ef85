import { type Extent, LocalRoom } from "../../run/worker/local-room.js";
import type { Needs, Place } from "../../run/worker.js";

type RoomNeeds = Pick<Needs, "slots" | "memoryBytes" | "gpus" | "runtimeMs">;

interface Waiting {
  readonly needs: RoomNeeds;
  readonly begin: (turn: Turn) => void;
}

/** Room for an attempt. Call `leave` at its end. */
export interface Turn {
  readonly place: Place;
  readonly leave: () => void;
}

/**
 * The room of a remote worker. A server that has just started may not know everything that runs here, so what it
 * assigns beyond the room waits for its turn, in order.
 */
export class SlotQueue {
  private readonly room: LocalRoom;
  private readonly waiting: Waiting[] = [];

  constructor(slots: number, extent: Extent) {
    this.room = new LocalRoom("", slots, { extent: () => extent });
  }

  /** Resolves when its turn comes, or to null if the signal is aborted before. */
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
