import type { Command } from "../core/commands.js";
import type { Store } from "../store/store.js";
import type { Clock } from "./clock.js";
import type { Engine } from "./engine.js";

/** How soon a command from another process is seen. */
export const INBOX_POLL_MS = 250;

/** Operator commands that may come from outside the owner's process. */
export type OperatorCommand = Extract<Command, { type: "run.cancel" }>;

/** Takes the commands that other processes left for the runs of this engine, and answers them once they are committed. */
export class Inbox {
  private cancelTimer: (() => void) | null = null;
  private closed = false;

  constructor(
    private readonly store: Store,
    private readonly engine: Engine,
    private readonly clock: Clock,
  ) {}

  start(): void {
    this.cancelTimer = this.clock.setTimer(this.clock.now() + INBOX_POLL_MS, () => {
      void this.poll().finally(() => {
        if (!this.closed) this.start();
      });
    });
  }

  stop(): void {
    this.closed = true;
    this.cancelTimer?.();
  }

  private async poll(): Promise<void> {
    const owned = this.engine.ownedRuns();
    if (owned.length === 0) return;
    // A store that fails here fails the next commit too, which says so; polling goes on.
    const waiting = await this.store.readInbox(owned).catch(() => []);
    for (const { id, runId, command } of waiting) {
      await this.engine.ask(runId, JSON.parse(command) as OperatorCommand);
      await this.store.answerCommand(id, JSON.stringify({ taken: true })).catch(() => {});
    }
  }
}
