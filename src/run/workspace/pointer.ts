import { readFile, stat } from "node:fs/promises";
import { DarumaError } from "../../core/errors/errors.js";
import { writeDurably } from "./durable-file.js";
import type { Workspace } from "./workspace.js";
import { treeFolder, type WorkspacePaths } from "./workspace-paths.js";

/** The tree that the pointer names, or null if no whole tree exists there. */
export async function readPointer(paths: WorkspacePaths, runId: number): Promise<Workspace | null> {
  const pointer = await parsedPointer(paths);
  if (pointer === null) return null;
  const path = treeFolder(paths, pointer.tree);
  return (await isFolder(path)) ? { runId, path, ...pointer } : null;
}

/** The id of the home, even if its tree is gone. Null if there is no pointer. */
export async function readHome(paths: WorkspacePaths): Promise<string | null> {
  return (await parsedPointer(paths))?.home ?? null;
}

async function parsedPointer(paths: WorkspacePaths): Promise<Pointer | null> {
  let text: string;
  try {
    text = await readFile(paths.pointer, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  return parsePointer(paths.pointer, text);
}

/** Replaces the pointer by one rename, so a reader sees either the old tree or the new one. */
export async function writePointer(paths: WorkspacePaths, workspace: Workspace): Promise<void> {
  const { repo, commit, base, tree, home } = workspace;
  const text = `${JSON.stringify({ repo, commit, base, tree, home })}\n`;
  await writeDurably(paths.pointer, (file) => file.writeFile(text));
}

export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

type Pointer = Pick<Workspace, "repo" | "commit" | "base" | "tree" | "home">;

function parsePointer(file: string, text: string): Pointer {
  try {
    const { repo, commit, base = commit, tree, home = "" } = JSON.parse(text) as { [key: string]: unknown };
    const isWhole = [repo, commit, base, home].every((value) => typeof value === "string");
    if (isWhole && Number.isSafeInteger(tree)) return { repo, commit, base, tree, home } as Pointer;
  } catch {
    // The error below covers this, too.
  }
  throw new DarumaError("WORKSPACE_NOT_FOUND", `${file} does not say where the workspace is`);
}
