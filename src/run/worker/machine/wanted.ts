import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { PROGRAM, SECRET } from "../../../core/model/worker-names.js";

export const BASH = `${PROGRAM}bash`;

/** Whether this process has a non-empty variable, or a program on its PATH. Values are not passed on. */
export function hasWanted(wanted: string, env: { readonly [name: string]: string | undefined }): boolean {
  if (wanted.startsWith(SECRET)) return Boolean(env[wanted.slice(SECRET.length)]);
  if (!wanted.startsWith(PROGRAM)) return false;
  const program = wanted.slice(PROGRAM.length);
  return (env.PATH ?? "").split(delimiter).some((folder) => isProgram(join(folder || ".", program)));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
