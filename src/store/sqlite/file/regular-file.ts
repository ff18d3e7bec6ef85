import { statSync } from "node:fs";
import { DarumaError } from "../../../core/errors/errors.js";

/**
 * Throws if the path is not a regular file: SQLite would wait forever for the other end of a pipe. The file is not
 * opened, because closing another descriptor of a database drops the locks that this process has on it.
 */
export function refuseSpecialFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  throw new DarumaError("STORE_FAILED", `${file}: the database is not a regular file`, {
    hint: "Remove what lies there, or name another folder with --output-dir.",
  });
}
