import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CACHE = join(ROOT, "node_modules/.cache/daruma");
const STAMP = join(CACHE, "built-from");
const LOCK = join(CACHE, "build.lock");
const BUILD_INFO = join(CACHE, "build.tsbuildinfo");
const LOCK_POLL_MS = 50;

/**
 * Vitest's global setup: worker threads and child processes run from `dist`, so it must be as new as `src`. Several
 * test runs may start at once; one of them builds.
 */
export async function setup(): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  if (isFresh()) return;
  await takeLock();
  try {
    if (!isFresh()) build();
  } finally {
    rmSync(LOCK, { recursive: true, force: true });
  }
}

function isFresh(): boolean {
  return (
    existsSync(join(ROOT, "dist")) && existsSync(STAMP) && readFileSync(STAMP, "utf8") === describeSource()
  );
}

function build(): void {
  const source = describeSource();
  // The compiler's memory of what it has written would keep it from writing a deleted folder again.
  if (!existsSync(join(ROOT, "dist"))) rmSync(BUILD_INFO, { force: true });
  try {
    execFileSync(
      process.execPath,
      [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.build.json"],
      {
        cwd: ROOT,
        encoding: "utf8",
        stdio: "pipe",
      },
    );
  } catch (error) {
    // Types are checked by the build proper; code with a wrong type is written all the same, and tests may go on.
    const output = error instanceof Error && "stdout" in error ? String(error.stdout) : String(error);
    console.warn(`the build has errors:\n${output}`);
  }
  writeFileSync(STAMP, source);
}

/** Every source file with the time of its last change. */
function describeSource(): string {
  const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
  const sources = files.filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts")).sort();
  return sources
    .map((file) => `${file} ${statSync(join(ROOT, "src", file), { throwIfNoEntry: false })?.mtimeMs}`)
    .join("\n");
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
