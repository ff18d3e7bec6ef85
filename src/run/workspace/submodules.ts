import { readFile, writeFile } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import type { GitProgram } from "./git-program.js";
import { countMissing, linkObjects } from "./link-objects.js";
import { isFolder } from "./pointer.js";
import { findCheckout, type SourceRepository } from "./source-repository.js";
import { splitAtNul } from "./split-at-nul.js";

/** Stops a repository with endlessly nested submodules. */
const MAX_SUBMODULES = 1_000;
const RECORD = "daruma-submodules.json";
const GITLINK = "160000";

/** A submodule of the pinned commit, or of one of its submodules. */
export interface Submodule {
  /** The path from the root of the tree. Each character is a byte, since a name need not be valid text. */
  readonly path: string;
  /** The commit that the enclosing repository pins. */
  readonly commit: string;
  /** Its files are part of the workspace. If false, its folder begins empty, as in the user's checkout. */
  readonly isTaken: boolean;
  /** The content of its file `shallow`, where its history is cut off. */
  readonly shallow: string | null;
}

/** Where a repository with submodules keeps them. */
interface Around {
  /** Its path in the tree, with a slash at the end; empty for the root. */
  readonly prefix: string;
  readonly commit: string;
  /** Folders that hold `modules/<name>`. */
  readonly gitFolders: readonly string[];
  /** The working tree; null if it has none. */
  readonly checkout: string | null;
}

/**
 * Copies the files of submodules that are checked out in the user's repository, from their object files there. Nothing
 * is fetched, and git does not run in them. Returns all submodules of the commit, outer ones first.
 */
export async function takeSubmodules(
  git: GitProgram,
  source: SourceRepository,
  store: string,
  commit: string,
): Promise<Submodule[]> {
  const found: Submodule[] = [];
  const gitFolders = [source.headFolder, source.gitFolder];
  const waiting: Around[] = [{ prefix: "", commit, gitFolders, checkout: await findCheckout(git, source) }];
  for (let around = waiting.shift(); around !== undefined; around = waiting.shift()) {
    const links = (await listTree(git, store, around.commit)).filter(({ mode }) => mode === GITLINK);
    const names = links.length === 0 ? new Map<string, string>() : await readNames(git, store, around.commit);
    for (const { id, path } of links) {
      const wanted = { path: around.prefix + path, commit: id };
      const { inner, ...taken } = await takeOne(git, store, around, {
        ...wanted,
        name: names.get(path) ?? path,
      });
      found.push({ ...wanted, ...taken });
      if (inner !== null) waiting.push(inner);
    }
    if (found.length > MAX_SUBMODULES)
      throw new DarumaError(
        "WORKSPACE_SUBMODULE_MISSING",
        `there are more than ${MAX_SUBMODULES} submodules`,
      );
  }
  await writeFile(join(store, RECORD), JSON.stringify(found));
  return found;
}

/** The submodules recorded in an existing store. */
export async function readSubmodules(store: string): Promise<Submodule[]> {
  try {
    return JSON.parse(await readFile(join(store, RECORD), "utf8")) as Submodule[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** A submodule's path, decoded for display. */
export function shownPath({ path }: Pick<Submodule, "path">): string {
  return Buffer.from(path, "latin1").toString("utf8");
}

interface Wanted {
  readonly path: string;
  readonly commit: string;
  readonly name: string;
}

type Taken = Pick<Submodule, "isTaken" | "shallow"> & { readonly inner: Around | null };

async function takeOne(git: GitProgram, store: string, around: Around, wanted: Wanted): Promise<Taken> {
  const checkout = around.checkout === null ? null : join(around.checkout, inner(around, wanted));
  const own = checkout === null ? null : await gitFolderOf(checkout);
  const candidates = [...modulesOf(around, wanted.name), ...(own === null ? [] : [own])];
  for (const gitFolder of candidates) {
    if (!(await isFolder(join(gitFolder, "objects")))) continue;
    await linkObjects(join(gitFolder, "objects"), join(store, "objects"));
    if ((await countMissing(git, store, wanted.commit)) !== 0) continue;
    const shallow = await readText(join(gitFolder, "shallow"));
    const { commit, path } = wanted;
    return {
      isTaken: true,
      shallow,
      inner: { prefix: `${path}/`, commit, gitFolders: [gitFolder], checkout },
    };
  }
  // It is not checked out, so the user's own folder is empty, too.
  if (own === null) return { isTaken: false, shallow: null, inner: null };
  throw new DarumaError(
    "WORKSPACE_SUBMODULE_MISSING",
    `the submodule ${shownPath(wanted)} is checked out, but lacks files of the pinned commit ${wanted.commit}`,
  );
}

function inner({ prefix }: Around, { path }: Wanted): string {
  return shownPath({ path: path.slice(prefix.length) });
}

/**
 * The folders that may hold the submodule. Its name comes from a file of the repository and must not lead out of them.
 */
function modulesOf({ gitFolders }: Around, name: string): string[] {
  return gitFolders.flatMap((gitFolder) => {
    const modules = join(gitFolder, "modules");
    const found = resolve(modules, shownPath({ path: name }));
    return found.startsWith(modules + sep) ? [found] : [];
  });
}

/** The git folder of a working tree: `.git` itself, or the folder that a file `.git` names. */
async function gitFolderOf(checkout: string): Promise<string | null> {
  const path = join(checkout, ".git");
  if (await isFolder(path)) return path;
  const named = /^gitdir: (.*)\n?$/.exec((await readText(path)) ?? "")?.[1];
  return named === undefined ? null : resolve(checkout, named);
}

async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch {
    return null;
  }
}

export interface TreeEntry {
  readonly mode: string;
  readonly id: string;
  readonly path: string;
}

export async function listTree(git: GitProgram, store: string, treeish: string): Promise<TreeEntry[]> {
  const output = await git.run(["ls-tree", "-r", "-z", treeish], { cwd: store, env: { GIT_DIR: store } });
  return splitAtNul(output).map((line) => {
    const [, mode = "", id = "", path = ""] =
      /^(\d+) \w+ ([0-9a-f]+)\t([\s\S]*)$/.exec(line.toString("latin1")) ?? [];
    return { mode, id, path };
  });
}

/** Submodule names by path, from the commit's `.gitmodules`. A missing or broken file gives none. */
async function readNames(git: GitProgram, store: string, commit: string): Promise<Map<string, string>> {
  const args = ["config", "--blob", `${commit}:.gitmodules`, "-z", "--get-regexp", "^submodule\\..*\\.path$"];
  const { stdout } = await git.attempt(args, { cwd: store, env: { GIT_DIR: store } });
  const names = new Map<string, string>();
  for (const entry of splitAtNul(stdout)) {
    const [, name, path] = /^submodule\.([\s\S]*)\.path\n([\s\S]*)$/.exec(entry.toString("latin1")) ?? [];
    if (name !== undefined && path !== undefined) names.set(path, name);
  }
  return names;
}
