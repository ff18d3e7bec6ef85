import { mkdirSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Assignment } from "../worker.js";

/** The folder in which an attempt works. A run without a folder gets one from each worker when it is needed. */
export function workFolder(base: string, { runId, cwd }: Pick<Assignment, "runId" | "cwd">): string {
  if (isAbsolute(cwd)) return cwd;
  const folder = workFolderOf(base, runId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return join(folder, cwd);
}

export function workFolders(base: string): string {
  return join(base, "work");
}

export function workFolderOf(base: string, runId: number): string {
  return join(workFolders(base), `run-${runId}`);
}
