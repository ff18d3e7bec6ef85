import { mkdir, rename, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { DarumaError } from "../core/errors.js";
import { PRIVATE_FOLDER, syncFolder } from "./durable-file.js";
import type { GitProgram } from "./git-program.js";
import { isFolder } from "./pointer.js";
import { removeFolder } from "./remove-folder.js";
import { readIdentity, type SourceRepository } from "./source-repository.js";
import type { WorkspacePaths } from "./workspace-paths.js";

const HALF_MADE = ".partial";
const TEMPLATE = "daruma-template";

/**
 * Bytes go in and come out as they are: no line ends, keywords, encodings or filter programs, whatever the
 * repository's own .gitattributes says. Else a file that a step wrote with CRLF would come back from a hard reset
 * with LF, and a filter could run a program of somebody's choice.
 */
const RAW_BYTES = "* -text !filter !ident !working-tree-encoding\n";

/**
 * The run's own repository, made once and then independent of the user's.
 *
 * Not `git worktree add`: it registers in the user's repository, and a step's `git stash`, `git branch` or
 * `git config` in such a tree changes the user's stash, branches and settings. Not a clone that borrows the objects
 * (alternates): after a rebase and `git gc` in the user's repository the pinned commit would be gone, and a ref to
 * hold it would be a change to that repository. A local clone links the object files instead: it costs no space on
 * the same disk, and what the user later removes stays here.
 */
export async function ensureStore(
  git: GitProgram,
  paths: WorkspacePaths,
  source: () => Promise<SourceRepository>,
  commit: string,
): Promise<void> {
  if (await hasCommit(git, paths.store, commit)) return;
  const from = await source();
  await mkdir(paths.home, { recursive: true, mode: PRIVATE_FOLDER });
  // Seen from the user's repository, nothing of this is there to be added or listed.
  await writeFile(join(paths.home, ".gitignore"), "*\n");
  const halfMade = `${paths.store}${HALF_MADE}`;
  await cloneObjects(git, from, halfMade);
  if (!(await hasCommit(git, halfMade, commit)))
    await git.run(["fetch", "-q", "--no-tags", "--no-write-fetch-head", "--", from.gitFolder, commit], {
      cwd: halfMade,
      env: { GIT_DIR: halfMade },
      asUser: true,
    });
  await settleStore(git, from, halfMade, commit);
  await removeFolder(paths.store);
  await rename(halfMade, paths.store);
  await syncFolder(paths.home);
}

/** What a new tree's own `.git` begins with. */
export function treeTemplate(paths: WorkspacePaths): string {
  return join(paths.store, TEMPLATE);
}

async function hasCommit(git: GitProgram, store: string, commit: string): Promise<boolean> {
  if (!(await isFolder(store))) return false;
  const call = { cwd: store, env: { GIT_DIR: store } };
  return (await git.attempt(["cat-file", "-e", `${commit}^{commit}`], call)).status === 0;
}

/** By links where that is possible; a shallow repository, or one whose objects cannot be linked, is copied. */
async function cloneObjects(git: GitProgram, from: SourceRepository, into: string): Promise<void> {
  const clone = async (how: string) => {
    await removeFolder(into);
    const args = ["clone", "--quiet", "--bare", how, "--template=", "--", from.gitFolder, into];
    return git.attempt(args, { cwd: from.repo, asUser: true });
  };
  if ((await clone("--local")).status === 0) return;
  const { status, stderr } = await clone("--no-local");
  if (status !== 0)
    throw new DarumaError("WORKSPACE_GIT_FAILED", `git clone of ${from.repo} failed: ${stderr}`);
}

async function settleStore(
  git: GitProgram,
  from: SourceRepository,
  store: string,
  commit: string,
): Promise<void> {
  const call = { cwd: store, env: { GIT_DIR: store } };
  // With the address of the user's repository a step's `git push` would reach it.
  await git.attempt(["config", "--remove-section", "remote.origin"], call);
  await git.run(["pack-refs", "--all"], call);
  await git.run(["update-ref", "refs/daruma/base", commit], call);
  await mkdir(join(store, "info"), { recursive: true });
  await writeFile(join(store, "info", "attributes"), RAW_BYTES);
  await writeTemplate(git, from, store);
}

/**
 * A tree has a `.git` of its own that borrows the store's objects: a step may commit, stash, collect garbage or
 * delete it, and neither the checkpoints nor the user's repository notice. Branches and tags are copies.
 */
async function writeTemplate(git: GitProgram, from: SourceRepository, store: string): Promise<void> {
  const template = join(store, TEMPLATE);
  await mkdir(join(template, "info"), { recursive: true });
  await mkdir(join(template, "objects", "info"), { recursive: true });
  await writeFile(join(template, "info", "attributes"), RAW_BYTES);
  // From `trees/N/.git/objects`; relative, so that the output folder can be moved.
  const objects = join("..", "..", "..", "..", basename(store).replace(HALF_MADE, ""), "objects");
  await writeFile(join(template, "objects", "info", "alternates"), `${objects}\n`);
  for (const [name, value] of await readIdentity(git, from))
    await git.run(["config", "--file", join(template, "config"), name, value], { cwd: store });
}
