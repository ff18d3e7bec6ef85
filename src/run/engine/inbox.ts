import { type TakenCommand, takeCommand } from "../../core/decide/take-command.js";
import { type Command, isOperatorCommand, type OperatorCommand } from "../../core/model/commands.js";
import type { Event } from "../../core/model/events.js";
import type { InboxCommand, Store } from "../../store/store.js";
import type { Fate } from "../worker.js";
import type { Clock } from "./clock.js";
import type { Engine } from "./engine.js";
import type { GroupCommit } from "./group-commit.js";
import { changesOf, Loop } from "./loop.js";
import type { RunHost } from "./run-host.js";

const UNREADABLE: TakenCommand = {
  refusal: { code: "USAGE", message: "the command cannot be read" },
  outcome: null,
};

/** The result of a command that another process sent to a run. */
export interface AnsweredEntry {
  readonly id: number;
  readonly taken: TakenCommand;
}

/** Takes an entry now, after all earlier ones. */
export function takeEntry(
  { id, command: text }: InboxCommand,
  host: RunHost,
  decide: (command: OperatorCommand) => void,
): AnsweredEntry {
  const command = parseCommand(text);
  if (command === null) return { id, taken: UNREADABLE };
  return { id, taken: takeCommand(host.run, command, () => decide(command)) };
}

/** Writes the answer. If that fails, the sender asks again. */
export async function answerEntry(store: Store, { id, taken }: AnsweredEntry): Promise<void> {
  await store.answerCommand(id, JSON.stringify(taken)).catch(() => {});
}

/** Parses a command; null if the text is not one. */
export function parseCommand(text: string): OperatorCommand | null {
  try {
    const command: unknown = JSON.parse(text);
    return isOperatorCommand(command) ? command : null;
  } catch {
    return null;
  }
}

/** A command on its way to its run, and the callback for its result. */
export interface Posted {
  readonly host: RunHost;
  readonly command: Command;
  readonly settled: ((fate: Fate) => void) | null;
}

/** Reports the result of a command once it is committed. */
export function tellOutcome(
  { host, settled }: { readonly host: RunHost; readonly settled: NonNullable<Posted["settled"]> },
  events: readonly Event[],
  commits: GroupCommit,
): void {
  if (host.lostBecause !== null) return settled("not_owned");
  if (events.length === 0) return settled("stale");
  commits.afterCommit(
    host,
    () => settled("committed"),
    () => settled("not_owned"),
  );
}

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
