import { CLAIM_WAIT_MS, type ClaimAnswer } from "../desk/protocol.js";
import type { Connection, Session } from "./connection.js";
import { type Moment, thisMoment } from "./elapsed.js";
import { pause } from "./pause.js";
import { ServerRefusal } from "./server-client.js";

export interface ClaimPorts {
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
