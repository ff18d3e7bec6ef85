import childProcess, { type ChildProcess } from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll } from "vitest";

/** A server that is asked to end ends its steps too; one that does not listen is killed. */
const PATIENCE_MS = 5_000;
/** Setup runs again for each test file of a worker; what it changes in the worker, it changes once. */
const worker = globalThis as { livingProcesses?: Set<ChildProcess> };
const isFirst = worker.livingProcesses === undefined;
worker.livingProcesses ??= new Set();
const LIVING = worker.livingProcesses;

/**
 * Setup of the slow projects: whatever a test file starts is gone when the file is done, whether its tests passed,
 * failed before they could clean up, or were interrupted. Tests need not do it themselves.
 */
if (isFirst) keepStarted();

function keepStarted(): void {
  for (const name of ["spawn", "fork"] as const) {
    const start = childProcess[name] as (...args: unknown[]) => ChildProcess;
    const kept = (...args: unknown[]): ChildProcess => {
      const child = start(...args);
      if (child.pid !== undefined) LIVING.add(child);
      child.once("exit", () => LIVING.delete(child));
      // One that holds nobody up is meant to live on: the database that the files of a run share watches over itself.
      const release = child.unref.bind(child);
      child.unref = () => {
        LIVING.delete(child);
        release();
      };
      return child;
    };
    Object.defineProperty(childProcess, name, { value: kept, configurable: true, writable: true });
  }
  syncBuiltinESMExports();

  process.on("exit", () => endAll("SIGTERM"));
  // The runner replaces process.exit, and a worker that hangs would hear no other signal.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => {
      endAll("SIGTERM");
      process.kill(process.pid, "SIGKILL");
    });
}

afterAll(async () => {
  const left = [...LIVING];
  endAll("SIGTERM");
  const gone = Promise.all(left.map(ended));
  const patience = new AbortController();
  await Promise.race([gone, delay(PATIENCE_MS, null, { signal: patience.signal }).catch(() => null)]);
  patience.abort();
  endAll("SIGKILL");
  await gone;
});

function endAll(signal: NodeJS.Signals): void {
  for (const child of LIVING) child.kill(signal);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise((resolve) => child.once("exit", resolve));
}
