import { DarumaError } from "../core/errors/errors.js";
import type { Definition } from "../core/model/definition.js";
import { programActions } from "../core/model/program-actions.js";
import { readDefinition } from "../engine/load-run.js";
import { programName, programOf } from "../report/lookup/run-program.js";
import type { Store } from "../store/store.js";

/** Before anything is recorded: a step that no worker here has would never start. */
export function requireActions(definition: Definition, has: readonly string[]): void {
  const missing = programActions(definition).filter((type) => !has.includes(type));
  if (missing.length > 0)
    throw new DarumaError("NEEDS_PROGRAM", `${definition.name} needs a program with ${missing.join(", ")}`);
}

/** Before its lease is taken: only a program with these functions goes on with an unmanaged run. */
export async function requireProgram(store: Store, runId: number, has: readonly string[]): Promise<void> {
  const row = await store.readRun(runId);
  const program = row === null || row.finished_at !== null ? null : programOf(row);
  if (program === null) return;
  const actions = programActions(await readDefinition(store, runId, row!.definition_hash));
  const missing = actions.filter((type) => !has.includes(type));
  if (missing.length > 0)
    throw new DarumaError(
      "NEEDS_PROGRAM",
      `run ${runId} needs the program with ${missing.join(", ")}: ${programName(program)}`,
    );
}
