import { accessSync, constants } from "node:fs";
import { builtFile } from "./package-folder.js";

/** The compiled launcher (`native/launcher`); null where there is none for this machine. */
export function nativeLauncher(): string | null {
  if (process.platform !== "linux") return null;
  const file = builtFile("launcher", `linux-${process.arch}`);
  return file !== null && isExecutable(file) ? file : null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
