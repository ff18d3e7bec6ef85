import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CACHE = join(ROOT, "node_modules/.cache/daruma");
const LOCK = join(CACHE, "build.lock");
const LOCK_POLL_MS = 50;

/**
 * Vitest's global setup: worker threads and child processes run from `dist`, so it must be as new as `src`. Several
 * test runs may start at once; the first one builds.
 */
export async function setup(): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  await takeLock();
  try {
    build();
  } finally {
    rmSync(LOCK, { recursive: true, force: true });
  }
}

/** Without the types, which the build proper checks: what has a wrong type is written all the same. */
function build(): void {
  execFileSync(process.execPath, [join(ROOT, "scripts/build.mjs"), "--code"], {
    cwd: ROOT,
    stdio: "inherit",
  });
}

async function takeLock(): Promise<void> {
  for (;;) {
    try {
      mkdirSync(LOCK);
      writeFileSync(join(LOCK, "pid"), String(process.pid));
      return;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
    if (isAbandoned()) rmSync(LOCK, { recursive: true, force: true });
    else await delay(LOCK_POLL_MS);
  }
}

function isAbandoned(): boolean {
  try {
    process.kill(Number(readFileSync(join(LOCK, "pid"), "utf8")), 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}
