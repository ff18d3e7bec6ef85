import type { Outcome } from "../../src/core/model/outcome.js";
import { LocalRoom } from "../../src/worker/local-room.js";
import type { HeldAttempt, Place, Report, ReportOutcome, Worker } from "../../src/worker/worker.js";

interface Listener {
  resolve: (report: Report | null) => void;
}

/** Workers on another machine: attempts outlive the engines that begin them and end when the test says. */
export class FarWorker implements Worker {
  /** Tokens of attempts by job, in the order in which they began. */
  readonly begun: { readonly jobId: number; readonly token: string }[] = [];
  readonly adopted: HeldAttempt[] = [];
  readonly stopped: string[] = [];
  /** What became of reports. */
  readonly outcomes: ReportOutcome[] = [];
  asked = 0;
  private readonly listeners = new Map<string, Listener>();
  private readonly rooms = new Set<() => void>();
  private readonly room: LocalRoom;

  constructor(
    slots = 8,
    private readonly tags: readonly string[] = [],
  ) {
    this.room = new LocalRoom("far/1", slots);
  }

  place(needs: Parameters<Worker["place"]>[0]): Place | "full" | null {
    this.asked += 1;
    return needs.tags.every((tag) => this.tags.includes(tag)) ? this.room.place(needs) : null;
  }

  release(place: Place): void {
    this.room.release(place);
  }

  execute(
    { jobId, token }: { readonly jobId: number; readonly token: string },
    _place: Place | null,
    signal: AbortSignal,
  ): Promise<Report | null> {
    this.begun.push({ jobId, token });
    return this.listen(token, signal);
  }

  adopt(held: HeldAttempt, signal: AbortSignal): Promise<Report | null> {
    this.adopted.push(held);
    return this.listen(held.token, signal);
  }

  /** The attempt ends; its result goes to whoever listens now. */
  end(token: string, result: Outcome = SUCCEEDED): void {
    const settled = (outcome: ReportOutcome): void => void this.outcomes.push(outcome);
    this.listeners.get(token)?.resolve({ result, durationMs: 1, settled });
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

  private listen(token: string, signal: AbortSignal): Promise<Report | null> {
    return new Promise((resolve) => {
      this.listeners.set(token, { resolve });
      signal.addEventListener("abort", () => {
        if (signal.reason === "released") return resolve(null);
        this.stopped.push(token);
        resolve({ result: { kind: "stopped" }, durationMs: 1 });
      });
    });
  }
}

const SUCCEEDED: Outcome = { kind: "succeeded", output: { kind: "value", value: null }, items: null };
