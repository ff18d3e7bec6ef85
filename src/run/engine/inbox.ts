import type { Store } from "../../store/store.js";
import type { Clock } from "./clock.js";
import type { Engine } from "./engine.js";
import { answerEntry, parseCommand, UNREADABLE } from "./inbox-entry.js";
import { changesOf, Loop } from "./loop.js";

/** How soon a command from another process is noticed. */
export const INBOX_POLL_MS = 250;

/** Takes the commands that other processes sent to this engine's runs, and answers them once they are committed. */
export class Inbox {
  private readonly loop: Loop;

  constructor(
    private readonly store: Store,
    private readonly engine: Engine,
    clock: Clock,
  ) {
    this.loop = new Loop(clock, {
      turn: () => this.poll(),
      restMs: () => INBOX_POLL_MS,
      wokenBy: changesOf(store, "inbox"),
    });
  }

  start(): void {
    this.loop.rest();
  }

  stop(): void {
    void this.loop.stop();
  }

  /**
   * Takes one command. One that cannot be taken now stays unanswered: its sender sees that the run's lease is free and
   * acts itself.
   */
  private async take(id: number, runId: number, text: string): Promise<void> {
    const command = parseCommand(text);
    if (command === null) return answerEntry(this.store, { id, taken: UNREADABLE });
    try {
      const taken = await this.engine.operate(runId, command);
      if (taken !== "not_owned") await answerEntry(this.store, { id, taken });
    } catch {
      // The commit was refused, so the run is no longer ours.
    }
  }

  private async poll(): Promise<void> {
    const owned = this.engine.ownedRuns();
    if (owned.length === 0) return;
    // If the store fails here, the next commit fails too and reports it. Polling continues.
    const waiting = await this.store.readInbox(owned).catch(() => []);
    for (const { id, runId, command } of waiting) await this.take(id, runId, command);
  }
}
