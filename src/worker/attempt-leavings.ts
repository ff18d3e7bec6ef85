import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { TokenUsage } from "../core/model/events.js";

/** A record for people who count; the attempt is what it is without it. */
export function writeUsage(file: string, usage: TokenUsage): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify(usage), { mode: 0o600 });
  } catch {}
}

/** Most steps write neither file, and an error with its stack costs more than a look. */
export function removeIfThere(path: string): void {
  if (existsSync(path)) rmSync(path, { force: true });
}
