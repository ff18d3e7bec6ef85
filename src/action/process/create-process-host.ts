import { LauncherHost } from "./launcher-host.js";
import { findProgram, nativeLauncher, perlLauncher } from "./launcher-program.js";
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
  return native === null ? createPlainHost() : new LauncherHost(native, createPlainHost);
}

/** Without a compiled launcher. */
function createPlainHost(): ProcessHost {
  const perl = findProgram("perl");
  const plain = new SpawnHost();
  return perl === null ? plain : new LauncherHost(perlLauncher(perl), () => plain);
}
