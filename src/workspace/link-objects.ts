import type { Dirent } from "node:fs";
import { constants, copyFile, link, mkdir, readdir, readFile } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";

/** As deep as git follows them. */
const MAX_ALTERNATES_DEPTH = 5;
const LINKED_AT_ONCE = 64;
const LOOSE_FOLDER = /^[0-9a-f]{2}$/;
const LOOSE_OBJECT = /^[0-9a-f]{38}(?:[0-9a-f]{24})?$/;
/** A pack comes before its index, by which git finds it. */
const PACK_PARTS = [".pack", ".rev", ".idx"];

/**
 * Every object of one repository in the folder of another: by links where that is possible, which costs no space,
 * else copied. `git clone --local` does the same, but runs git in the repository and leaves what it borrows from
 * others (alternates) borrowed.
 */
export async function linkObjects(
  from: string,
  into: string,
  depth = 0,
  seen = new Set<string>(),
): Promise<void> {
  if (seen.has(from) || depth > MAX_ALTERNATES_DEPTH) return;
  seen.add(from);
  // Loose ones first: those that a repack puts into a pack meanwhile are found there.
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

/** What is gone was repacked or is not needed: whether all is there is looked at afterwards. */
async function linkOne(entry: Dirent, from: string, to: string): Promise<void> {
  try {
    // A link to a symbolic link would be one, and lead astray.
    if (entry.isFile() && (await linked(from, to))) return;
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/** False: on another disk, or of another user. */
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
