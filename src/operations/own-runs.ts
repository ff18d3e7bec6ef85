import { DarumaError } from "../core/errors.js";
import type { RunRow } from "../core/rows.js";
import { JOB_IDS_PER_RUN } from "../core/run.js";
import type { Store } from "../store/store.js";
import { type RunReference, resolveRun } from "./run-reference.js";

/** Whatever an operation acts on. */
export type Acted = { readonly run: RunReference } | { readonly job: number };

/** The file, the scripts and the workspace of an imported run came from somebody whom nobody here has chosen. */
export function isImported({ options }: Pick<RunRow, "options">): boolean {
  return options.imported === true;
}

/** Refuses runs that were imported. What is not there is left to whoever looks for it. */
export async function requireOwnRuns(store: Store, acted: readonly Acted[]): Promise<void> {
  const ids = await Promise.all(acted.map((each) => runIdOf(store, each)));
  for (const id of new Set(ids)) {
    const run = await store.readRun(id);
    if (run !== null && isImported(run)) throw new DarumaError("IMPORTED_RUN", `run ${id} was imported`);
  }
}

async function runIdOf(store: Store, acted: Acted): Promise<number> {
  if ("job" in acted) return Math.floor(acted.job / JOB_IDS_PER_RUN);
  return acted.run === "last" ? resolveRun(store, "last") : acted.run;
}
