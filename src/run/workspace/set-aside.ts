import { access } from "node:fs/promises";
import { join } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import { dressSubmodules } from "./dress-tree.js";
import type { GitCall, GitProgram } from "./git-program.js";
import { takeOwnRepositoryBack } from "./own-repository.js";
import { type Ends, readDifference, writePatch } from "./patch.js";
import { withSnapshot } from "./snapshot.js";
import { splitAtNul } from "./split-at-nul.js";
import { inTree, withTemporaryIndex } from "./tree-index.js";
import type { Workspace } from "./workspace.js";
import type { WorkspacePaths } from "./workspace-paths.js";

/** How many files an error message names. */
const MAX_NAMED_FILES = 5;
const RULES_FILE = /(?:^|\/)\.gitignore$/;

export interface Leftovers {
  /** The patch, relative to the run's folder; null if nothing differs from the last checkpoint. */
  readonly patch: string | null;
  readonly files: number;
}

interface LeftTree {
  readonly git: GitProgram;
  readonly paths: WorkspacePaths;
  readonly at: { readonly tree: number; readonly path: string; readonly commit: string };
}

/**
 * Saves what differs from the last checkpoint as a patch. An existing patch of this name is kept: it was made before a
 * crash or failure, when the tree still held all changes.
 */
export async function keepLeftovers(
  git: GitProgram,
  paths: WorkspacePaths,
  workspace: Workspace,
  { since, patch }: { readonly since: string; readonly patch: string },
): Promise<Leftovers> {
  const { tree, path } = workspace;
  return withSnapshot(git, paths, { tree, path, commit: since }, async ({ treeId }) => {
    const file = join(paths.run, patch);
    if (await isThere(file)) return { patch, files: await countFiles(git, paths, file) };
    const ends = { store: paths.store, from: since, to: treeId };
    const { changedFiles } = await readDifference(git, ends);
    if (changedFiles.length === 0) return { patch: null, files: 0 };
    await writePatch(git, ends, file);
    return { patch, files: changedFiles.length };
  });
}

/** Restores the files of the commit, in place. Files that its own .gitignore rules ignore are left alone. */
export async function takeFilesBack(
  git: GitProgram,
  paths: WorkspacePaths,
  workspace: Workspace,
  since: string,
): Promise<void> {
  const { tree, path } = workspace;
  const place: LeftTree = { git, paths, at: { tree, path, commit: since } };
  await takeOwnRepositoryBack(git, paths, workspace, since);
  await takeRulesBack(place);
  await withSnapshot(git, paths, place.at, async ({ index }) => {
    const call = inTree(paths, path, index);
    // All files that count are in the index now, so this removes those that the commit lacks.
    await git.run(["read-tree", "--reset", "-u", since], call);
    // This removes empty folders, and repositories that were made or cloned within the tree.
    await git.attempt(["clean", "-ffdq"], call);
  });
  await dressSubmodules(git, paths, path);
  await verify(place);
}

/** Restores changed .gitignore files first, because the commit's rules decide which files are ignored. */
async function takeRulesBack({ git, paths, at }: LeftTree): Promise<void> {
  await withSnapshot(git, paths, at, async ({ treeId, index }) => {
    const changed = (await listChanges(git, { store: paths.store, from: treeId, to: at.commit })).filter(
      ({ path }) => RULES_FILE.test(path),
    );
    if (changed.length === 0) return;
    const wanted = await withTemporaryIndex(git, paths, { ...at, commit: treeId }, async (other) => {
      const call = inTree(paths, at.path, other);
      const entries = changed.map(({ mode, id, path }) => `${mode} ${id}\t${path}\0`).join("");
      const input = Buffer.from(entries, "latin1");
      await git.run(["update-index", "--replace", "-z", "--index-info"], { ...call, input });
      return git.line(["write-tree"], call);
    });
    await git.run(["read-tree", "--reset", "-u", wanted], inTree(paths, at.path, index));
  });
}

interface Change {
  /** The mode in the target; zeros if the file does not exist there. */
  readonly mode: string;
  readonly id: string;
  /** The path as bytes, in latin1. */
  readonly path: string;
}

async function listChanges(git: GitProgram, { store, from, to }: Ends): Promise<Change[]> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", from, to];
  const parts = splitAtNul(await git.run(args, { cwd: store, env: { GIT_DIR: store } }));
  const changes: Change[] = [];
  for (let place = 0; place + 1 < parts.length; place += 2) {
    const [, mode, , id] = parts[place]!.toString("latin1").slice(1).split(" ");
    changes.push({ mode: mode!, id: id!, path: parts[place + 1]!.toString("latin1") });
  }
  return changes;
}

/** Checks the result, because git only warns about a file that it cannot remove or write. */
async function verify({ git, paths, at }: LeftTree): Promise<void> {
  await withSnapshot(git, paths, at, async ({ treeId }) => {
    const { changedFiles } = await readDifference(git, { store: paths.store, from: at.commit, to: treeId });
    if (changedFiles.length === 0) return;
    const named = changedFiles.slice(0, MAX_NAMED_FILES).join(", ");
    const more =
      changedFiles.length > MAX_NAMED_FILES ? ` and ${changedFiles.length - MAX_NAMED_FILES} more` : "";
    throw new DarumaError("WORKSPACE_GIT_FAILED", `these files cannot be brought back: ${named}${more}`);
  });
}

async function countFiles(git: GitProgram, paths: WorkspacePaths, patch: string): Promise<number> {
  const call: GitCall = { cwd: paths.store, env: { GIT_DIR: paths.store } };
  const { status, stdout } = await git.attempt(["apply", "--numstat", "-z", patch], call);
  return status === 0 ? splitAtNul(stdout).length : 0;
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
