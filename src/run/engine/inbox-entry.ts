import { type TakenCommand, takeCommand } from "../../core/decide/take-command.js";
import { type Command, isOperatorCommand, type OperatorCommand } from "../../core/model/commands.js";
import type { Event } from "../../core/model/events.js";
import type { InboxCommand, Store } from "../../store/store.js";
import type { Fate } from "../worker.js";
import type { GroupCommit } from "./group-commit.js";
import type { RunHost } from "./run-host.js";

export const UNREADABLE: TakenCommand = {
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
