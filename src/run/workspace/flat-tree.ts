import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import { commitTree } from "./checkpoint.js";
import type { GitCall, GitProgram } from "./git-program.js";
import { listTree, type Submodule, shownPath } from "./submodules.js";
import type { WorkspacePaths } from "./workspace-paths.js";

const NO_DATE = "@0 +0000";
const MESSAGE = "Base: the pinned commit with the files of its submodules\n";
const GITLINK = "160000";

/**
 * Makes the commit that a workspace begins with: the pinned commit with the files of its submodules in place of links.
 * Submodule files are then ordinary files, so checkpoints, patches and rebuilds need no special case, and what a step
 * does to them is not lost. Without submodules it returns the pinned commit itself.
 */
export async function flatten(
  git: GitProgram,
  store: string,
  commit: string,
  submodules: readonly Submodule[],
): Promise<string> {
  if (submodules.length === 0) return commit;
  const nothing = "0".repeat(commit.length);
  const entries: string[] = [];
  for (const { path, commit: pinned, isTaken } of submodules) {
    entries.push(`0 ${nothing}\t${path}`);
    if (!isTaken) continue;
    for (const { mode, id, path: file } of await listTree(git, store, pinned))
      if (mode !== GITLINK) entries.push(`${mode} ${id}\t${path}/${file}`);
  }
  return withIndex(store, async (call) => {
    await git.run(["read-tree", commit], call);
    await changeEntries(git, call, entries);
    const treeId = await git.line(["write-tree"], call);
    return commitTree(git, { store }, { treeId, since: commit, message: MESSAGE, date: NO_DATE });
  });
}

/** Converts a workspace tree back to one for the user's repository: submodule files become links again. */
export async function unflatten(
  git: GitProgram,
  { store }: Pick<WorkspacePaths, "store">,
  tree: { readonly treeId: string; readonly base: string },
  submodules: readonly Submodule[],
): Promise<string> {
  if (submodules.length === 0) return tree.treeId;
  const outer = submodules.filter(
    ({ path }) => !submodules.some((other) => path.startsWith(`${other.path}/`)),
  );
  const inside = (path: string) =>
    outer.find((each) => path === each.path || path.startsWith(`${each.path}/`));
  const [now, before] = [await listTree(git, store, tree.treeId), await listTree(git, store, tree.base)];
  const known = new Map(before.map((entry) => [entry.path, `${entry.mode} ${entry.id}`]));
  for (const { path, mode, id } of now) {
    const submodule = inside(path);
    if (submodule !== undefined && known.get(path) !== `${mode} ${id}`) throw changed(submodule);
    known.delete(path);
  }
  for (const path of known.keys()) {
    const submodule = inside(path);
    if (submodule !== undefined) throw changed(submodule);
  }
  return withIndex(store, async (call) => {
    await git.run(["read-tree", tree.treeId], call);
    const nothing = "0".repeat(tree.treeId.length);
    const files = now.filter(({ path }) => inside(path) !== undefined);
    await changeEntries(git, call, [
      ...files.map(({ path }) => `0 ${nothing}\t${path}`),
      ...outer.map(({ path, commit }) => `${GITLINK} ${commit}\t${path}`),
    ]);
    return git.line(["write-tree"], call);
  });
}

function changed(submodule: Submodule): DarumaError {
  return new DarumaError(
    "WORKSPACE_SUBMODULE_CHANGED",
    `the run has changed files of the submodule ${shownPath(submodule)}, which a branch of the repository cannot hold`,
  );
}

async function withIndex<Result>(store: string, use: (call: GitCall) => Promise<Result>): Promise<Result> {
  const index = join(store, `flat-${randomUUID()}`);
  try {
    return await use({ cwd: store, env: { GIT_DIR: store, GIT_INDEX_FILE: index } });
  } finally {
    await rm(index, { force: true });
  }
}

async function changeEntries(git: GitProgram, call: GitCall, entries: readonly string[]): Promise<void> {
  const input = Buffer.from(entries.map((entry) => `${entry}\0`).join(""), "latin1");
  await git.run(["update-index", "-z", "--index-info"], { ...call, input });
}
