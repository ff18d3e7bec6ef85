import { DarumaError } from "../core/errors/errors.js";
import { programActions } from "../core/model/action-traits.js";
import type { Definition } from "../core/model/definition.js";
import type { RunRow } from "../core/model/rows.js";
import { readDefinition } from "../run/engine/load-run.js";
import type { Store } from "../store/store.js";
import { programName, programOf, type RunProgram } from "../tell/lookup/run-program.js";

/** Before anything is recorded: a step that no worker here has would never start. */
export function requireActions(definition: Definition, has: readonly string[]): void {
  const missing = missingActions(definition, has);
  if (missing.length > 0)
    throw new DarumaError("NEEDS_PROGRAM", `${definition.name} needs a program with ${missing.join(", ")}`, {
      hint: {
        typed:
          "Start it in a program that registers them with `actions`; `fork` of `daruma.start` makes it a fork.",
        asked: "Only a program that registers them can start it.",
      },
    });
}

/** Before its lease is taken: only a program with these functions goes on with an unmanaged run. */
export async function requireProgram(store: Store, runId: number, has: readonly string[]): Promise<void> {
  const row = await store.readRun(runId);
  const absent = row === null ? null : await absentProgram(store, row, has);
  if (absent !== null)
    throw new DarumaError(
      "NEEDS_PROGRAM",
      `run ${runId} needs the program with ${absent.missing.join(", ")}: ${programName(absent.program)}`,
    );
}

interface AbsentProgram {
  readonly program: RunProgram;
  readonly missing: readonly string[];
}

/** The program without which nobody here can go on with a run; null: it needs none, or its functions are here. */
export async function absentProgram(
  store: Store,
  row: Pick<RunRow, "id" | "finished_at" | "options" | "cause" | "definition_hash">,
  has: readonly string[],
): Promise<AbsentProgram | null> {
  const program = row.finished_at === null ? programOf(row) : null;
  if (program === null) return null;
  const missing = missingActions(await readDefinition(store, row.id, row.definition_hash), has);
  return missing.length === 0 ? null : { program, missing };
}

function missingActions(definition: Definition, has: readonly string[]): string[] {
  return programActions(definition).filter((type) => !has.includes(type));
}
