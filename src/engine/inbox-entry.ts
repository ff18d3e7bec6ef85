import type { OperatorCommand } from "../core/commands.js";
import { type Refusal, refusalOf } from "../core/operator.js";
import type { Run } from "../core/run.js";
import type { InboxCommand, Store } from "../store/store.js";

export const UNREADABLE: Refusal = { code: "USAGE", message: "the command cannot be read" };

/** A command that another process left for a run, and why it does not apply, if it does not. */
export interface InboxEntry {
  readonly id: number;
  readonly command: OperatorCommand | null;
  readonly refusal: Refusal | null;
}

export function readEntry({ id, command: text }: InboxCommand, run: Run): InboxEntry {
  const command = parseCommand(text);
  return { id, command, refusal: command === null ? UNREADABLE : refusalOf(run, command) };
}

/** An answer that cannot be written is asked for again. */
export async function answerEntry(store: Store, id: number, refusal: Refusal | null): Promise<void> {
  await store.answerCommand(id, JSON.stringify({ refusal })).catch(() => {});
}

/** Null: no command can be read from it. */
export function parseCommand(text: string): OperatorCommand | null {
  try {
    return JSON.parse(text) as OperatorCommand;
  } catch {
    return null;
  }
}
