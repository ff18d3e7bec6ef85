import { execFileSync } from "node:child_process";
import { chmodSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** A folder that nobody here can write: for root mounted on itself for reading only, for others by its permissions. */
export interface ReadOnlyFolder {
  /** Why it cannot be made here, else null. */
  readonly reason: string | null;
  release(): void;
}

export function makeReadOnly(folder: string): ReadOnlyFolder {
  if (process.getuid?.() !== 0) {
    setModes(folder, { folder: 0o555, file: 0o444 });
    return { reason: null, release: () => setModes(folder, { folder: 0o755, file: 0o644 }) };
  }
  const release = (): void => void execFileSync("umount", [folder], { stdio: "ignore" });
  try {
    execFileSync("mount", ["--bind", folder, folder], { stdio: "pipe" });
  } catch (error) {
    return {
      reason: `root may write everywhere, and nothing can be mounted (${String(error)})`,
      release: () => {},
    };
  }
  try {
    execFileSync("mount", ["-o", "remount,bind,ro", folder], { stdio: "pipe" });
  } catch (error) {
    release();
    return { reason: `nothing can be mounted for reading only (${String(error)})`, release: () => {} };
  }
  return { reason: null, release };
}

function setModes(folder: string, modes: { folder: number; file: number }): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) setModes(path, modes);
    else chmodSync(path, modes.file);
  }
  chmodSync(folder, modes.folder);
}
