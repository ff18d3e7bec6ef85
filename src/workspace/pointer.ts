import { readFile, stat } from "node:fs/promises";
import { DarumaError } from "../core/errors.js";
import { writeDurably } from "./durable-file.js";
import type { Workspace } from "./workspace.js";
import { treeFolder, type WorkspacePaths } from "./workspace-paths.js";

/** The tree that the pointer names, or null if there is none that is whole. */
export async function readPointer(paths: WorkspacePaths, runId: number): Promise<Workspace | null> {
  let text: string;
  try {
    text = await readFile(paths.pointer, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const { repo, commit, tree } = parsePointer(paths.pointer, text);
  const path = treeFolder(paths, tree);
  return (await isFolder(path)) ? { runId, tree, path, repo, commit } : null;
}

/** One rename: a reader sees the old tree or the new one. */
export async function writePointer(paths: WorkspacePaths, workspace: Workspace): Promise<void> {
  const { repo, commit, tree } = workspace;
  await writeDurably(paths.pointer, (file) => file.writeFile(`${JSON.stringify({ repo, commit, tree })}\n`));
}

export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

function parsePointer(file: string, text: string): { repo: string; commit: string; tree: number } {
  try {
    const { repo, commit, tree } = JSON.parse(text) as { [key: string]: unknown };
    if (typeof repo === "string" && typeof commit === "string" && Number.isSafeInteger(tree))
      return { repo, commit, tree: tree as number };
  } catch {
    // Said below.
  }
  throw new DarumaError("WORKSPACE_NOT_FOUND", `${file} does not say where the workspace is`);
}
