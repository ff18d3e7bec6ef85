import type { Outcome } from "../../src/core/model/outcome.js";
import { LocalRoom } from "../../src/run/worker/room.js";
import type { Ended, Fate, HeldAttempt, Seat, Worker } from "../../src/run/worker.js";

/** Workers on another machine: attempts outlive the engines that begin them and end when the test says. */
export class FarWorker implements Worker {
  /** Tokens of attempts by job, in the order in which they began. */
  readonly begun: { readonly jobId: number; readonly token: string }[] = [];
  readonly adopted: HeldAttempt[] = [];
  readonly stopped: string[] = [];
  /** What became of reports. */
  readonly outcomes: Fate[] = [];
  asked = 0;
  private readonly listeners = new Map<string, Ended>();
  private readonly rooms = new Set<() => void>();
  private readonly room: LocalRoom;

  constructor(
    slots = 8,
    private readonly tags: readonly string[] = [],
  ) {
    this.room = new LocalRoom("far/1", slots);
  }

  place(needs: Parameters<Worker["place"]>[0]): Seat | "full" | null {
    this.asked += 1;
    return needs.tags.every((tag) => this.tags.includes(tag)) ? this.room.place(needs) : null;
  }

  release(place: Seat): void {
    this.room.release(place);
  }

  execute(
    { jobId, token }: { readonly jobId: number; readonly token: string },
    _place: Seat | null,
    signal: AbortSignal,
    ended: Ended,
  ): void {
    this.begun.push({ jobId, token });
    this.listen(token, signal, ended);
  }

  adopt(held: HeldAttempt, signal: AbortSignal, ended: Ended): boolean {
    this.adopted.push(held);
    this.listen(held.token, signal, ended);
    return true;
  }

  /** The attempt ends; its result goes to whoever listens now. */
  end(token: string, outcome: Outcome = SUCCEEDED): void {
    this.listeners.get(token)?.({ ...outcome, duration_ms: 1 }, (fate) => this.outcomes.push(fate));
  }

  tellRoom(): void {
    for (const listener of this.rooms) listener();
  }

  onRoom(listener: () => void): () => void {
    this.rooms.add(listener);
    return () => this.rooms.delete(listener);
  }

  async endLeftovers(): Promise<void> {}
  async close(): Promise<void> {}

  /** Only the first end counts. */
  private listen(token: string, signal: AbortSignal, ended: Ended): void {
    let isOver = false;
    const once: Ended = (...said) => {
      if (!isOver) ended(...said);
      isOver = true;
    };
    this.listeners.set(token, once);
    signal.addEventListener("abort", () => {
      if (signal.reason === "released") return once(null);
      this.stopped.push(token);
      once({ kind: "stopped", duration_ms: 1 });
    });
  }
}

const SUCCEEDED: Outcome = { kind: "succeeded", output: { kind: "value", value: null } };
