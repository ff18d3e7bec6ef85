import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

export const DEFAULT_OUTPUT_FOLDER = ".daruma";

/** A folder of the usual name often lies in somebody's repository: what is in it is nobody's to commit. */
export function hideFromGit(outputDir: string): void {
  if (basename(outputDir) !== DEFAULT_OUTPUT_FOLDER) return;
  try {
    mkdirSync(outputDir, { recursive: true, mode: 0o700 });
    writeFileSync(join(outputDir, ".gitignore"), "*\n", { flag: "wx" });
  } catch {
    // It exists already, or the folder is not writable, which the code that needs it reports better.
  }
}
