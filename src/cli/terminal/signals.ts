import { EXIT } from "./exit-codes.js";

/**
 * Ends this process at once, whatever its threads are doing, and with its pipes every process it started.
 * `process.exit` would end the threads first, and a thread inside SQLite then aborts the whole process. A shell reports
 * the death by SIGINT as 130, as for any program.
 */
export function endAtOnce(): void {
  // Listeners restore the terminal.
  process.emit("exit", EXIT.interrupted);
  process.removeAllListeners("SIGINT");
  process.kill(process.pid, "SIGINT");
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Resolves with the first signal, which asks for a clean stop. The second ends this process at once. */
export function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    for (const name of SIGNALS) {
      process.on(name, () => {
        if (asked) endAtOnce();
        asked = true;
        resolve(name);
      });
    }
  });
}
