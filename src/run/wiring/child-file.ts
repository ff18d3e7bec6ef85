import { realpathSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import type { RunRow } from "../../core/model/rows.js";
import type { Store } from "../../store/store.js";

/**
 * The file of a child run, with all links resolved. Somebody who may start runs at a server must not make the server
 * read any file of its machine, so the file must be below the folder of the outermost run, which was started directly.
 * A run of this machine's command line reads what its user may read.
 */
export async function childFile(
  store: Pick<Store, "readRun">,
  parent: number,
  { file, folder }: { readonly file: string; readonly folder: string },
): Promise<string> {
  const path = resolve(folder, file);
  const run = await outermostRun(store, parent);
  return run?.managed === true ? confined(path, run.folder, file) : path;
}

async function outermostRun(store: Pick<Store, "readRun">, runId: number): Promise<RunRow | null> {
  let run = await store.readRun(runId);
  while (run?.parent != null) run = await store.readRun(run.parent.run_id);
  return run;
}

function confined(path: string, folder: string, file: string): string {
  if (folder === "") throw new DarumaError("FOLDER_NEEDED", `the run has no folder to find ${file} in`);
  const outside = new DarumaError("CHILD_OUTSIDE", `${file} is not inside ${folder}`);
  const root = resolved(folder, folder);
  // Before anything is looked at: else the answer would tell what there is elsewhere.
  if (!isBelow(folder, path) && !isBelow(root, path)) throw outside;
  const real = resolved(path, file);
  if (!isBelow(root, real)) throw outside;
  return real;
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function resolved(path: string, shown: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw new DarumaError("FILE_NOT_FOUND", `${shown}: there is no such file`, { cause: error });
  }
}
