import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { allocationPaths } from "../allocations/scale/allocation-spec.js";

/** Writes files for this user only: somebody who reads the token could take jobs, with their secrets. */
export function writeAllocationFiles(folder: string, token: string, script: string): void {
  const { tokenFile, scriptFile } = allocationPaths(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 });
  writeFileSync(scriptFile, script, { mode: 0o600 });
}

/** The log stays, for people who want to know why it ended. */
export function removeAllocationFiles(folder: string): void {
  const { tokenFile, scriptFile } = allocationPaths(folder);
  for (const file of [tokenFile, scriptFile]) rmSync(file, { force: true });
}
