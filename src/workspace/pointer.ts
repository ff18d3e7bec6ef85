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
  const { tree, ...known } = parsePointer(paths.pointer, text);
  const path = treeFolder(paths, tree);
  return (await isFolder(path)) ? { runId, tree, path, ...known } : null;
}

/** One rename: a reader sees the old tree or the new one. */
export async function writePointer(paths: WorkspacePaths, workspace: Workspace): Promise<void> {
  const { repo, commit, base, tree } = workspace;
  const text = `${JSON.stringify({ repo, commit, base, tree })}\n`;
  await writeDurably(paths.pointer, (file) => file.writeFile(text));
}

export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

type Pointer = Pick<Workspace, "repo" | "commit" | "base" | "tree">;

function parsePointer(file: string, text: string): Pointer {
  try {
    const { repo, commit, base = commit, tree } = JSON.parse(text) as { [key: string]: unknown };
    const isWhole = [repo, commit, base].every((value) => typeof value === "string");
    if (isWhole && Number.isSafeInteger(tree)) return { repo, commit, base, tree } as Pointer;
  } catch {
    // Said below.
  }
  throw new DarumaError("WORKSPACE_NOT_FOUND", `${file} does not say where the workspace is`);
}
