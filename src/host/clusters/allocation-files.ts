import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where the files of one allocation lie. */
export interface AllocationPaths {
  readonly folder: string;
  readonly tokenFile: string;
  readonly scriptFile: string;
  readonly logFile: string;
}

export function allocationPaths(folder: string): AllocationPaths {
  return {
    folder,
    tokenFile: join(folder, "token"),
    scriptFile: join(folder, "script.sh"),
    logFile: join(folder, "worker.log"),
  };
}

/** For this user alone: whoever reads the token could take jobs, and their secrets with them. */
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
