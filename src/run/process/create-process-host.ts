import { accessSync, constants } from "node:fs";
import { LauncherHost } from "./launcher-host.js";
import { builtFile } from "./package-folder.js";
import type { ProcessHost } from "./process-host.js";
import { SpawnHost } from "./spawn-host.js";

let prepared: ProcessHost | null = null;

/** Makes the next host ready ahead of its first process: a launcher takes as long to start as a workflow takes to read. */
export function prepareProcessHost(): void {
  if (prepared !== null) return;
  const host = createProcessHost();
  if (host instanceof LauncherHost) host.prepare();
  prepared = host;
}

/** The fastest host that this machine can run. */
export function createProcessHost(): ProcessHost {
  const ready = prepared;
  prepared = null;
  if (ready !== null) return ready;
  const native = nativeLauncher();
  return native === null ? new SpawnHost() : new LauncherHost(native);
}

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
