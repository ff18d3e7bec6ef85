import type { Dirent } from "node:fs";
import { constants, copyFile, link, mkdir, readdir, readFile } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import type { GitProgram } from "./git-program.js";
import { isFolder } from "./pointer.js";

/** git itself follows alternates only this deep. */
const MAX_ALTERNATES_DEPTH = 5;
const LINKED_AT_ONCE = 64;
const LOOSE_FOLDER = /^[0-9a-f]{2}$/;
const LOOSE_OBJECT = /^[0-9a-f]{38}(?:[0-9a-f]{24})?$/;
/** Parts of a pack in copying order. The index comes last, because git finds a pack by its index. */
const PACK_PARTS = [".pack", ".rev", ".idx"];

/**
 * Brings every object of one repository into the folder of another, by hard links (which cost no space) where possible,
 * else by copies. `git clone --local` does the same, but it runs git in the source repository and keeps borrowing the
 * objects that the source itself borrows (alternates).
 */
export async function linkObjects(
  from: string,
  into: string,
  depth = 0,
  seen = new Set<string>(),
): Promise<void> {
  if (seen.has(from) || depth > MAX_ALTERNATES_DEPTH) return;
  seen.add(from);
  // Loose objects come first: those that a repack moves into a pack meanwhile are then found in the pack.
  for (const { name } of await listFolder(from))
    if (LOOSE_FOLDER.test(name)) await linkAll(join(from, name), join(into, name), [LOOSE_OBJECT]);
  const packs = PACK_PARTS.map((part) => new RegExp(`^pack-[0-9a-f]+\\${part}$`));
  await linkAll(join(from, "pack"), join(into, "pack"), packs);
  for (const alternate of await readAlternates(from)) await linkObjects(alternate, into, depth + 1, seen);
}

async function linkAll(from: string, into: string, wanted: readonly RegExp[]): Promise<void> {
  const entries = await listFolder(from);
  if (entries.length === 0) return;
  await mkdir(into, { recursive: true });
  for (const form of wanted) {
    const found = entries.filter(({ name }) => form.test(name));
    for (let at = 0; at < found.length; at += LINKED_AT_ONCE) {
      const some = found.slice(at, at + LINKED_AT_ONCE);
      await Promise.all(some.map((entry) => linkOne(entry, join(from, entry.name), join(into, entry.name))));
    }
  }
}

/**
 * Links or copies one file. A file that has vanished was repacked or is not needed; a later check shows whether all
 * objects are present.
 */
async function linkOne(entry: Dirent, from: string, to: string): Promise<void> {
  try {
    // Symbolic links are not linked: the result would be a symbolic link again, to a wrong place.
    if (entry.isFile() && (await linked(from, to))) return;
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/** Returns false if the file is on another disk or belongs to another user. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EEXIST";
  }
}

async function readAlternates(objects: string): Promise<string[]> {
  let text: string;
  try {
    text = await readFile(join(objects, "info", "alternates"), "utf8");
  } catch {
    return [];
  }
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return lines.map((line) => (isAbsolute(line) ? line : resolve(objects, line)));
}

async function listFolder(path: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

export async function hasCommit(git: GitProgram, store: string, commit: string): Promise<boolean> {
  if (!(await isFolder(store))) return false;
  const call = { cwd: store, env: { GIT_DIR: store } };
  return (await git.attempt(["cat-file", "-e", `${commit}^{commit}`], call)).status === 0;
}

/** How many objects of the commit's files (not of its history) are missing. Null if the commit itself is missing. */
export async function countMissing(git: GitProgram, store: string, commit: string): Promise<number | null> {
  if (!(await hasCommit(git, store, commit))) return null;
  const args = ["rev-list", "--objects", "--no-walk", "--quiet", "--missing=print", commit];
  const printed = await git.run(args, { cwd: store, env: { GIT_DIR: store } });
  return printed.toString("latin1").split("\n").filter(Boolean).length;
}
