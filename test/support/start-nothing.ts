import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import threads from "node:worker_threads";

const REASON =
  "a test of the project `fast` must not start processes or threads: import what starts them by its name, so that the file counts as slow (test/support/fast-or-slow.ts)";

function refuse(): never {
  throw new Error(REASON);
}

/**
 * Setup of the project `fast`. The split goes by imports, which a name put together at run time escapes; this does not.
 */
for (const name of ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"] as const)
  Object.defineProperty(childProcess, name, { value: refuse, configurable: true, writable: true });
Object.defineProperty(threads, "Worker", { value: refuse, configurable: true, writable: true });
syncBuiltinESMExports();
