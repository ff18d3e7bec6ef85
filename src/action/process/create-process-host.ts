import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { LauncherHost } from "./launcher-host.js";
import type { ProcessHost } from "./process-host.js";
import { SpawnHost } from "./spawn-host.js";

let prepared: ProcessHost | null = null;

/** Makes the next host ready ahead of its first process: a launcher takes as long to start as a workflow takes to read. */
export function prepareProcessHost(): void {
  const perl = findProgram("perl");
  if (prepared !== null || perl === null) return;
  const host = new LauncherHost(perl, new SpawnHost());
  host.prepare();
  prepared = host;
}

/** The fastest host that this machine can run. */
export function createProcessHost(): ProcessHost {
  const ready = prepared;
  prepared = null;
  if (ready !== null) return ready;
  const perl = findProgram("perl");
  const plain = new SpawnHost();
  return perl === null ? plain : new LauncherHost(perl, plain);
}

function findProgram(name: string): string | null {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(folder || ".", name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}
