import { lstat } from "node:fs/promises";
import { join } from "node:path";

/**
 * What is at a path below a folder. A symbolic link on the way counts as "other": a step may have made it, and it can
 * lead anywhere.
 */
export async function lookWithin(folder: string, path: string): Promise<"folder" | "nothing" | "other"> {
  let at = folder;
  for (const part of path.split("/")) {
    at = join(at, part);
    const found = await lstat(at).catch(() => null);
    if (found === null) return "nothing";
    if (!found.isDirectory()) return "other";
  }
  return "folder";
}
