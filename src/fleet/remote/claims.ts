import { type Extent, LocalRoom } from "../../run/worker/room.js";
import type { Needs, Seat } from "../../run/worker.js";
import { CLAIM_WAIT_MS, type ClaimAnswer } from "../desk/protocol.js";
import type { Connection, Session } from "./connection.js";
import { ServerRefusal } from "./server-client.js";
import { type Moment, pause, thisMoment } from "./worker-clock.js";

interface ClaimPorts {
  readonly connection: Connection;
  /** Called with the work in the answer to a request that was sent at `sentAt`. */
  readonly given: (session: Session, answer: ClaimAnswer, sentAt: Moment) => void;
  readonly isLeaving: () => boolean;
  /** Whether this worker has a secret or a program, by name. */
  readonly hasWanted: (wanted: string) => boolean;
  readonly over: AbortSignal;
}

/** The pause after a claim that failed at once. */
const CLAIM_RETRY_MS = 100;

/** Asks the server for work, and waits there while there is none. */
export class Claims {
  private open: AbortController | null = null;
  /** The questions in the last answer. */
  private asked: readonly string[] = [];

  constructor(private readonly ports: ClaimPorts) {}

  async loop(): Promise<void> {
    const { isLeaving, over } = this.ports;
    while (!isLeaving()) {
      try {
        await this.once(CLAIM_WAIT_MS);
      } catch (error) {
        if (isLeaving()) return;
        if (error instanceof ServerRefusal && [401, 403].includes(error.status)) throw error;
        await pause(CLAIM_RETRY_MS, over);
      }
    }
  }

  async once(waitMs: number): Promise<void> {
    const { connection, given, isLeaving, hasWanted } = this.ports;
    const session = await connection.get();
    const sentAt = thisMoment();
    // Each claim has its own signal, because listeners on a long-lived one are never released.
    const controller = new AbortController();
    if (waitMs > 0) this.open = controller;
    const { signal } = controller;
    try {
      if (waitMs > 0 && isLeaving()) controller.abort();
      const answers = Object.fromEntries(this.asked.map((wanted) => [wanted, hasWanted(wanted)]));
      const request = {
        ...{ session: session.session, wait_ms: waitMs },
        ...(this.asked.length === 0 ? {} : { answers }),
      };
      const answer = await session.client.claim(session.worker_id, request, signal);
      this.asked = answer.asks ?? [];
      given(session, answer, sentAt);
    } catch (error) {
      if (!signal.aborted) connection.failed(session, error);
      throw error;
    }
  }

  /** Stops waiting. */
  hangUp(): void {
    this.open?.abort();
  }
}

type RoomNeeds = Pick<Needs, "slots" | "memoryBytes" | "gpus" | "runtimeMs">;

interface Waiting {
  readonly needs: RoomNeeds;
  readonly begin: (turn: Turn) => void;
}

/** Room for an attempt. Call `leave` at its end. */
interface Turn {
  readonly place: Seat;
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
