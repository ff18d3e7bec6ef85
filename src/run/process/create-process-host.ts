import { LauncherHost } from "./launcher-host.js";
import { nativeLauncher } from "./launcher-program.js";
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
