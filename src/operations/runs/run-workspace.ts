import { DarumaError } from "../../core/errors/errors.js";
import type { Run } from "../../core/model/run.js";
import { loadRun } from "../../run/engine/load-run.js";
import type { Workspace } from "../../run/workspace/workspace.js";
import type { Workspaces } from "../../run/workspace/workspaces.js";
import { type RunReference, resolveRun } from "../../tell/lookup/run-reference.js";
import type { Context } from "../context.js";

export async function loadWithWorkspace(
  { store }: Pick<Context, "store">,
  reference: RunReference,
): Promise<Run> {
  const { run } = await loadRun(store, await resolveRun(store, reference));
  if (run.definition.workspace === null || run.definition.workspace === undefined)
    throw new DarumaError("WORKSPACE_NOT_FOUND", `the workflow of run ${run.id} has no workspace`, {
      hint: "Add `workspace:` to the file to give its runs one.",
    });
  return run;
}

/**
 * The log is ahead of the pointer for a moment; where the output folder was moved, only the pointer knows the way. Null:
 * it lies in another output folder, whatever is left of it here.
 */
export async function presentWorkspace(workspaces: Workspaces, run: Run): Promise<Workspace | null> {
  const { path, home } = run.workspace;
  if ((await workspaces.home(run.id)) !== (home?.home ?? "")) return null;
  const told = path === null ? null : await workspaces.find(run.id, path);
  return told ?? workspaces.current(run.id);
}
