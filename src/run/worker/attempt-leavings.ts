import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { TokenUsage } from "../../core/model/events.js";

/** Writes token usage, for statistics. The attempt does not depend on it. */
export function writeUsage(file: string, usage: TokenUsage): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify(usage), { mode: 0o600 });
  } catch {}
}

/** Removes a file. Most steps write none, and checking costs less than an error with its stack. */
export function removeIfThere(path: string): void {
  if (existsSync(path)) rmSync(path, { force: true });
}
