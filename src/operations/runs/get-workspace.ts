import { z } from "zod";
import type { WorkspaceNote } from "../../core/model/events.js";
import type { CheckpointRow } from "../../core/model/rows.js";
import { jobById, type Run } from "../../core/model/run.js";
import type { PartialPatch } from "../../core/model/workspace-state.js";
import { openWorkspaces } from "../../run/workspace/workspaces.js";
import type { RunReference } from "../../tell/lookup/run-reference.js";
import { iso } from "../../tell/run-report.js";
import { noteText } from "../../tell/words/workspace-note-text.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { runReference } from "../schemas.js";
import { loadWithWorkspace, presentWorkspace } from "./run-workspace.js";

export const getWorkspace = operation({
  name: "get_workspace",
  summary: "print the folder of a run's workspace, and its checkpoints",
  description:
    "Returns the git workspace of a run: its folder on the server's machine, the pinned commit, the step that is running there, the hard resets so far, and its checkpoints with their changed files and patches.",
  details:
    "`notes` lists what may be missing in it: empty submodules, files that git LFS keeps elsewhere. A patch is an artifact of the run; if `stored` is true, the store has it too, so that another server can replay it. A superseded checkpoint is kept, but a reset does not replay it. `partials` lists what incomplete attempts had left when another step was about to start: the patch, and how many files it changes.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({ run_id: runReference }),
  output: z.object({
    run_id: z.number(),
    path: z.string().nullable(),
    repo: z.string().nullable(),
    commit: z.string().nullable(),
    notes: z.array(
      z.object({
        kind: z.enum(["empty_submodules", "lfs_pointers"]),
        paths: z.array(z.string()),
        message: z.string(),
      }),
    ),
    at_work: z.string().nullable(),
    resets: z.number(),
    checkpoints: z.array(
      z.object({
        ordinal: z.number(),
        job_id: z.number(),
        step: z.string(),
        scope: z.string(),
        attempt: z.number(),
        visit: z.number(),
        commit: z.string(),
        diff_hash: z.string().nullable(),
        changed_files: z.array(z.string()),
        patch: z.string(),
        at: z.string(),
        stored: z.boolean(),
        superseded: z.boolean(),
      }),
    ),
    partials: z.array(
      z.object({
        job_id: z.number(),
        step: z.string(),
        scope: z.string(),
        attempt: z.number(),
        files: z.number(),
        patch: z.string(),
        at: z.string(),
      }),
    ),
  }),
  rest: { method: "GET", path: "/runs/{run_id}/workspace" },
  cli: [
    {
      words: "workspace",
      positional: ["run_id"],
      examples: ["daruma workspace 3", "daruma workspace last --json"],
    },
  ],
  handler: (context, { run_id }) => describeWorkspace(context, run_id),
});

async function describeWorkspace({ store, outputDir }: Context, reference: RunReference) {
  const run = await loadWithWorkspace({ store }, reference);
  const here = await presentWorkspace(openWorkspaces({ outputDir }), run);
  const { workspace } = run;
  return {
    run_id: run.id,
    // The output folder may have been moved since the log was written.
    path: here?.path ?? workspace.path,
    repo: here?.repo ?? null,
    commit: workspace.commit,
    notes: workspace.notes.map(describeNote),
    at_work: workspace.running?.step.definition.id ?? null,
    resets: workspace.resets,
    checkpoints: (await store.readCheckpoints(run.id)).map(describeCheckpoint),
    partials: workspace.partials.map((partial) => describePartial(run, partial)),
  };
}

function describeNote(note: WorkspaceNote) {
  const paths = note.kind === "empty_submodules" ? note.paths : [];
  return { kind: note.kind, paths, message: noteText(note) };
}

function describeCheckpoint({ run_id: _run, commit_id, changed_files, at, ...row }: CheckpointRow) {
  return { ...row, commit: commit_id, changed_files, at: iso(at) };
}

function describePartial(run: Run, { job: id, attempt, patch, files, at }: PartialPatch) {
  const { step, scope } = jobById(run, id);
  return { job_id: id, step: step.definition.id, scope: scope.id, attempt, files, patch, at: iso(at) };
}
