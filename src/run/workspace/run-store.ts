import { copyFile, mkdir, rename, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import { PRIVATE_FOLDER, syncFolder } from "./durable-file.js";
import { flatten } from "./flat-tree.js";
import type { GitProgram } from "./git-program.js";
import { countMissing, hasCommit, linkObjects } from "./link-objects.js";
import { removeFolder } from "./remove-folder.js";
import { inSource, readIdentity, type SourceRepository } from "./source-repository.js";
import { takeSubmodules } from "./submodules.js";
import type { WorkspacePaths } from "./workspace-paths.js";

const HALF_MADE = ".partial";
const TEMPLATE = "daruma-template";
const SHALLOW = "shallow";
const BASE = "refs/daruma/base";
const LINK_TRIES = 3;

/**
 * Attributes that keep bytes unchanged: no line ends, keywords, encodings or filter programs, whatever the repository's
 * .gitattributes says. Otherwise a file that a step wrote with CRLF would come back from a hard reset with LF, and a
 * filter could run any program.
 */
const RAW_BYTES = "* -text !filter !ident !working-tree-encoding\n";

/**
 * Makes the run's own repository once; afterwards it does not depend on the user's.
 *
 * `git worktree add` is not used, because it registers in the user's repository, and a step's `git stash`, `git branch`
 * or `git config` in such a tree changes the user's stash, branches and settings. Nor is a clone that borrows the
 * objects (alternates): after a rebase and `git gc` in the user's repository the pinned commit would be gone, and a ref
 * to hold it would change that repository. Linked object files cost no space on the same disk, and they stay when the
 * user removes the originals.
 *
 * Returns the commit that a tree begins with: the pinned one, or with submodules a commit that holds their files.
 */
export async function ensureStore(
  git: GitProgram,
  paths: WorkspacePaths,
  source: () => Promise<SourceRepository>,
  commit: string,
): Promise<string> {
  if (await hasCommit(git, paths.store, commit)) return readBase(git, paths);
  const from = await source();
  await mkdir(paths.home, { recursive: true, mode: PRIVATE_FOLDER });
  // Hides the folder from the user's repository, so that it is neither listed nor added there.
  await writeFile(join(paths.home, ".gitignore"), "*\n");
  const halfMade = `${paths.store}${HALF_MADE}`;
  await removeFolder(halfMade);
  const format = await git.line(["rev-parse", "--show-object-format"], inSource(from));
  await git.run(["init", "--quiet", "--bare", "--template=", `--object-format=${format}`, "--", halfMade], {
    cwd: paths.home,
  });
  await takeObjects(git, from, halfMade, commit);
  await takeRefs(git, from, halfMade);
  const base = await flatten(git, halfMade, commit, await takeSubmodules(git, from, halfMade, commit));
  await settleStore(git, from, halfMade, base);
  await removeFolder(paths.store);
  await rename(halfMade, paths.store);
  await syncFolder(paths.home);
  return base;
}

async function readBase(git: GitProgram, { store }: WorkspacePaths): Promise<string> {
  return git.line(["rev-parse", "--verify", BASE], { cwd: store, env: { GIT_DIR: store } });
}

/** The folder from which a new tree's `.git` is copied. */
export function treeTemplate(paths: WorkspacePaths): string {
  return join(paths.store, TEMPLATE);
}

/** Links the objects. A repack in progress moves objects, so what is missing is looked for again. */
async function takeObjects(
  git: GitProgram,
  from: SourceRepository,
  store: string,
  commit: string,
): Promise<void> {
  let missing: number | null = null;
  for (let tries = 0; tries < LINK_TRIES && missing !== 0; tries += 1) {
    await linkObjects(join(from.gitFolder, "objects"), join(store, "objects")).catch((cause: Error) => {
      const message = `the objects of ${from.repo} cannot be read: ${cause.message}`;
      throw new DarumaError("WORKSPACE_GIT_FAILED", message, { cause });
    });
    missing = await countMissing(git, store, commit);
  }
  if (missing === 0) return;
  throw new DarumaError(
    "WORKSPACE_OBJECTS_MISSING",
    `${from.repo} lacks ${missing ?? "all"} objects of the files of commit ${commit}`,
  );
}

/** Copies the branches and tags whose objects are present, and the limits of a shallow history. */
async function takeRefs(git: GitProgram, from: SourceRepository, store: string): Promise<void> {
  const args = ["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags"];
  const lines = splitLines(await git.run(args, inSource(from)));
  const ids = lines.map((line) => line.slice(0, line.indexOf(" ")));
  const checked = splitLines(
    await git.run(["cat-file", "--batch-check"], {
      cwd: store,
      env: { GIT_DIR: store },
      input: ids.map((id) => `${id}\n`).join(""),
    }),
  );
  const present = lines.filter((_line, place) => checked[place]?.endsWith(" missing") === false);
  // The file is written as bytes, because names of refs need not be valid text.
  await writeFile(
    join(store, "packed-refs"),
    Buffer.from(present.map((ref) => `${ref}\n`).join(""), "latin1"),
  );
  await copyFile(join(from.gitFolder, SHALLOW), join(store, SHALLOW)).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    },
  );
}

function splitLines(output: Buffer): string[] {
  return output.toString("latin1").split("\n").filter(Boolean);
}

async function settleStore(
  git: GitProgram,
  from: SourceRepository,
  store: string,
  base: string,
): Promise<void> {
  await git.run(["update-ref", BASE, base], { cwd: store, env: { GIT_DIR: store } });
  await mkdir(join(store, "info"), { recursive: true });
  await writeFile(join(store, "info", "attributes"), RAW_BYTES);
  await writeTemplate(git, from, store);
}

/**
 * Makes the template of a tree's own `.git`, which borrows the store's objects. A step may commit, stash, collect
 * garbage or delete it without any effect on the checkpoints or the user's repository. Branches and tags are copies.
 */
async function writeTemplate(git: GitProgram, from: SourceRepository, store: string): Promise<void> {
  const template = join(store, TEMPLATE);
  await mkdir(join(template, "info"), { recursive: true });
  await mkdir(join(template, "objects", "info"), { recursive: true });
  await writeFile(join(template, "info", "attributes"), RAW_BYTES);
  // The path leads from `trees/N/.git/objects`. It is relative so that the output folder can be moved.
  const objects = join("..", "..", "..", "..", basename(store).replace(HALF_MADE, ""), "objects");
  await writeFile(join(template, "objects", "info", "alternates"), `${objects}\n`);
  for (const [name, value] of await readIdentity(git, from))
    await git.run(["config", "--file", join(template, "config"), name, value], { cwd: store });
}
