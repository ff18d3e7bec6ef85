import type { Client } from "../../../operations/client.js";
import { nameOf } from "../../../tell/lookup/job-name.js";
import type { RunReference } from "../../../tell/lookup/run-reference.js";
import { commandLine } from "../../declare/command-words.js";
import { sendBackCommands } from "../../render/hold-lines.js";
import { type Session, writeLines } from "../../terminal/channel.js";

/**
 * Whose hint it is. A held step that examines the work of another does not pass its hint on, and who writes one there
 * mostly means the step that did the work. Only a hold says which step that is, so this is read before the decision.
 */
export async function hintNotes(
  { options }: Session,
  client: Client,
  run_id: RunReference,
  hint: unknown,
): Promise<readonly HintNote[]> {
  if (hint === undefined || options.json || options.quiet) return [];
  const { items } = await client.call("list_holds", { run_id });
  return items.flatMap((held) => {
    const { id } = held;
    const name = nameOf(held.step, held.scope);
    return sendBackCommands(held).map((words) => ({
      id,
      name,
      text: `note: the hint is for ${name} alone; for the step whose work that examines: ${commandLine(options, words)}`,
    }));
  });
}

interface HintNote {
  readonly id: number;
  readonly name: string;
  readonly text: string;
}

/** Tells those about jobs that were decided. */
export function tellHintNotes(
  { err }: Session,
  notes: readonly HintNote[],
  isDecided: (note: HintNote) => boolean,
): void {
  writeLines(
    err,
    notes.filter(isDecided).map(({ text }) => text),
  );
}
