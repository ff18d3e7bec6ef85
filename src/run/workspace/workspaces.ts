import { randomUUID } from "node:crypto";
import { basename, join, resolve } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import type { WorkspaceNote } from "../../core/model/events.js";
import {
  type CheckpointInput,
  commitTree,
  MAX_LISTED_FILES,
  type MadeCheckpoint,
  makeCheckpoint,
} from "./checkpoint.js";
import { unflatten } from "./flat-tree.js";
import { GitProgram } from "./git-program.js";
import {
  type Difference,
  fetchPatches,
  type PatchShelf,
  readDifference,
  shelvePatch,
  writePatch,
} from "./patch.js";
import { isFolder, readHome, readPointer, writePointer } from "./pointer.js";
import { nextTree, type Replay, rebuildTree, removeOtherTrees, removeTree } from "./rebuild.js";
import { removeFolder } from "./remove-folder.js";
import { createBranch } from "./result-branch.js";
import { ensureStore } from "./run-store.js";
import { keepLeftovers, type Leftovers, takeFilesBack } from "./set-aside.js";
import { withSnapshot } from "./snapshot.js";
import { openSource, resolveCommit } from "./source-repository.js";
import { readSubmodules } from "./submodules.js";
import type {
  Between,
  FailedChanges,
  OfAttempt,
  OfFailed,
  OfOthers,
  RebuiltWorkspace,
  ResultBranch,
  ResultPatch,
  Workspace,
  WorkspaceChanges,
  Workspaces,
} from "./workspace.js";
import { notesOf, uncommittedFiles } from "./workspace-notes.js";
import {
  failedPatchFile,
  otherPatchFile,
  partialPatchFile,
  previousPatchFile,
  treeFolder,
  type WorkspacePaths,
  workspacePaths,
} from "./workspace-paths.js";

const TREE_NAME = /^[1-9]\d*$/;
const MS_PER_SECOND = 1_000;

export interface WorkspacesOptions {
  readonly outputDir: string;
  readonly git?: string;
  /** Where patches are stored for other servers. */
  readonly patches?: PatchShelf;
}

export function openWorkspaces({ outputDir, git = "git", patches }: WorkspacesOptions): Workspaces {
  return new GitWorkspaces(resolve(outputDir), new GitProgram(git), patches ?? null);
}

class GitWorkspaces implements Workspaces {
  constructor(
    private readonly outputDir: string,
    private readonly git: GitProgram,
    private readonly patches: PatchShelf | null,
  ) {}

  async create(runId: number, from: { readonly repo: string; readonly ref: string }): Promise<Workspace> {
    const existing = await this.current(runId);
    if (existing !== null) return existing;
    const source = await openSource(this.git, from.repo);
    const commit = await resolveCommit(this.git, source, from.ref);
    return this.restore(runId, { repo: source.repo, commit, checkpoints: [] });
  }

  notes({ runId, base }: Workspace): Promise<WorkspaceNote[]> {
    return notesOf(this.git, this.paths(runId), base);
  }

  async current(runId: number): Promise<Workspace | null> {
    return readPointer(this.paths(runId), runId);
  }

  async find(runId: number, path: string): Promise<Workspace | null> {
    const current = await this.current(runId);
    // Only the name counts: the output folder may have been moved.
    const name = basename(path);
    if (current === null || !TREE_NAME.test(name)) return null;
    const here = treeFolder(this.paths(runId), Number(name));
    return (await isFolder(here)) ? { ...current, tree: Number(name), path: here } : null;
  }

  async changes(workspace: Workspace, since: string): Promise<WorkspaceChanges> {
    return this.withTree(workspace, since, async (treeId, store) =>
      changesIn(await readDifference(this.git, { store, from: since, to: treeId })),
    );
  }

  async keepFailed(workspace: Workspace, { since, maxBytes, ...of }: OfFailed): Promise<FailedChanges> {
    const paths = this.paths(workspace.runId);
    return this.withTree(workspace, since, async (treeId, store) => {
      const ends = { store, from: since, to: treeId };
      const changes = changesIn(await readDifference(this.git, ends));
      if (changes.diffHash === null) return changes;
      const patch = failedPatchFile(of);
      try {
        await writePatch(this.git, ends, join(paths.run, patch), maxBytes);
      } catch (error) {
        if (codeOf(error) === "WORKSPACE_PATCH_TOO_LARGE") return { ...changes, patch: null };
        throw error;
      }
      return { ...changes, patch };
    });
  }

  uncommitted(workspace: Workspace, names: readonly string[]): Promise<readonly string[]> {
    return uncommittedFiles(this.git, this.paths(workspace.runId), workspace, names);
  }

  async checkpoint(workspace: Workspace, input: CheckpointInput): Promise<MadeCheckpoint> {
    await assertPresent(workspace);
    const paths = this.paths(workspace.runId);
    const made = await makeCheckpoint(this.git, paths, workspace, input);
    if (this.patches === null) return made;
    const run = { id: workspace.runId, folder: paths.run };
    return { ...made, stored: await shelvePatch(this.patches, run, made) };
  }

  async home(runId: number): Promise<string | null> {
    return readHome(this.paths(runId));
  }

  async keepLeftovers(workspace: Workspace, { since, ...of }: OfAttempt): Promise<Leftovers> {
    await assertPresent(workspace);
    const patch = partialPatchFile(of);
    return keepLeftovers(this.git, this.paths(workspace.runId), workspace, { since, patch });
  }

  async keepOthers(workspace: Workspace, { since, rebuild, known }: OfOthers): Promise<Leftovers> {
    const { diffHash } = await this.changes(workspace, since);
    if (diffHash === known) return { patch: null, files: 0 };
    const patch = otherPatchFile(rebuild);
    return keepLeftovers(this.git, this.paths(workspace.runId), workspace, { since, patch });
  }

  async setAside(workspace: Workspace, of: OfAttempt): Promise<Leftovers> {
    const kept = await this.keepLeftovers(workspace, of);
    await takeFilesBack(this.git, this.paths(workspace.runId), workspace, of.since);
    return kept;
  }

  async keepDifference(runId: number, { rebuild, ...between }: Between): Promise<string | null> {
    const paths = this.paths(runId);
    const ends = { store: paths.store, ...between };
    const patch = previousPatchFile(rebuild);
    if ((await readDifference(this.git, ends)).hash === null) return null;
    await writePatch(this.git, ends, join(paths.run, patch));
    return patch;
  }

  async rebuild(runId: number, from: Replay & { readonly repo: string }): Promise<RebuiltWorkspace> {
    return this.build(runId, from, await this.home(runId));
  }

  async takeOver(runId: number, to: Replay & { readonly repo: string }): Promise<RebuiltWorkspace> {
    const built = await this.build(runId, to, null);
    await this.promote(built);
    return built;
  }

  /** Builds a tree. `home` is null for a new home, in which no existing file can be trusted. */
  private async build(
    runId: number,
    from: Replay & { readonly repo: string },
    home: string | null,
  ): Promise<RebuiltWorkspace> {
    const { repo, commit } = from;
    const paths = this.paths(runId);
    await this.fetchPatches(runId, from, home === null);
    const current = await this.current(runId);
    await removeOtherTrees(paths, current?.tree ?? null);
    const base = await ensureStore(this.git, paths, () => openSource(this.git, repo), commit);
    if (from.base !== undefined && from.base !== base) throw submodulesChanged(repo);
    const tree = await nextTree(paths);
    const replay = () => rebuildTree(this.git, paths, tree, { ...from, base });
    const { path, commits } = await replay().catch(async (error: unknown) => {
      // A local patch may be damaged, so this retries with the stored ones.
      if (this.patches === null || home === null || !isPatchFault(error)) throw error;
      await this.fetchPatches(runId, from, true);
      return replay();
    });
    const moved = commits.filter(({ commit: made }, place) => made !== from.checkpoints[place]!.commit);
    const place = { runId, tree, path, home: home ?? randomUUID() };
    const rebuilt = { ...place, repo: resolve(repo), commit, base };
    return moved.length === 0 ? rebuilt : { ...rebuilt, moved };
  }

  private async fetchPatches(runId: number, { checkpoints }: Replay, afresh: boolean): Promise<void> {
    if (this.patches === null) return;
    await fetchPatches(this.patches, runId, this.paths(runId), checkpoints, afresh);
  }

  async promote(candidate: Workspace): Promise<void> {
    await assertPresent(candidate);
    const paths = this.paths(candidate.runId);
    const current = await this.current(candidate.runId);
    if (current?.tree === candidate.tree) return;
    await writePointer(paths, candidate);
    if (current !== null) await removeTree(paths, current.tree);
  }

  async discard(candidate: Workspace): Promise<void> {
    const current = await this.current(candidate.runId);
    if (current?.tree === candidate.tree)
      throw new DarumaError(
        "WORKSPACE_BUSY",
        `tree ${candidate.tree} is the workspace of run ${candidate.runId}`,
      );
    await removeTree(this.paths(candidate.runId), candidate.tree);
  }

  async restore(runId: number, to: Replay & { readonly repo: string }): Promise<Workspace> {
    const candidate = await this.rebuild(runId, to);
    await this.promote(candidate);
    return candidate;
  }

  async resultPatch(
    workspace: Workspace,
    to: { readonly since: string; readonly file: string },
  ): Promise<ResultPatch> {
    return this.withTree(workspace, to.since, async (treeId, store) => {
      const ends = { store, from: workspace.base, to: treeId };
      const { changedFiles } = await readDifference(this.git, ends);
      const file = resolve(to.file);
      await writePatch(this.git, ends, file);
      return { file, changedFileCount: changedFiles.length };
    });
  }

  async resultBranch(workspace: Workspace, to: ResultBranch): Promise<string> {
    const source = await openSource(this.git, to.repo);
    await resolveCommit(this.git, source, workspace.commit);
    return this.withTree(workspace, to.since, async (treeId) => {
      const paths = this.paths(workspace.runId);
      const date = `@${Math.floor(to.at / MS_PER_SECOND)} +0000`;
      const { message } = to;
      const submodules = await readSubmodules(paths.store);
      const home = await unflatten(this.git, paths, { treeId, base: workspace.base }, submodules);
      const since = workspace.commit;
      const commit = await commitTree(this.git, paths, { treeId: home, since, message, date });
      await createBranch(this.git, paths, source, { name: to.name, commit, base: workspace.commit });
      return commit;
    });
  }

  async remove(runId: number): Promise<void> {
    const paths = this.paths(runId);
    // The pointer goes first: a half-removed workspace must not be found.
    await removeFolder(paths.pointer);
    await removeFolder(paths.home);
  }

  private paths(runId: number): WorkspacePaths {
    return workspacePaths(this.outputDir, runId);
  }

  private async withTree<Result>(
    workspace: Workspace,
    since: string,
    use: (treeId: string, store: string) => Promise<Result>,
  ): Promise<Result> {
    await assertPresent(workspace);
    const paths = this.paths(workspace.runId);
    const { tree, path } = workspace;
    return withSnapshot(this.git, paths, { tree, path, commit: since }, ({ treeId }) =>
      use(treeId, paths.store),
    );
  }
}

function changesIn({ hash, changedFiles }: Difference): WorkspaceChanges {
  const listed = changedFiles.slice(0, MAX_LISTED_FILES);
  return { diffHash: hash, changedFiles: listed, changedFileCount: changedFiles.length };
}

function isPatchFault(error: unknown): boolean {
  return ["WORKSPACE_PATCH_FAILED", "WORKSPACE_PATCH_ALTERED"].includes(codeOf(error) ?? "");
}

function codeOf(error: unknown): string | null {
  return error instanceof DarumaError ? error.code : null;
}

function submodulesChanged(repo: string): DarumaError {
  return new DarumaError(
    "WORKSPACE_SUBMODULE_MISSING",
    `the submodules that are checked out in ${repo} have changed since the run started`,
  );
}

async function assertPresent(workspace: Workspace): Promise<void> {
  if (await isFolder(workspace.path)) return;
  throw new DarumaError(
    "WORKSPACE_NOT_FOUND",
    `the workspace of run ${workspace.runId} is no longer at ${workspace.path}`,
  );
}
