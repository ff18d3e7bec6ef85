import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder that has `src` and `dist`: from the sources, from the library and from the bundle of the command line alike. */
const PACKAGE_FOLDER = /^(.*)\/(?:src|dist)\//;

/** A file that the build has put into this package; null: this is no such package. */
export function builtFile(...path: readonly string[]): string | null {
  const [, folder] = PACKAGE_FOLDER.exec(fileURLToPath(import.meta.url)) ?? [];
  return folder === undefined ? null : join(folder, "dist", ...path);
}
