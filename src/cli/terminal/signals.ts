import { EXIT } from "./exit-codes.js";

/**
 * Ends this process, and with its pipes every process it started, whatever its threads are doing. `process.exit` would
 * end the threads first, and one that is inside SQLite then aborts the whole process. A shell tells a death by SIGINT as
 * 130, as it does for any program.
 */
export function endAtOnce(): void {
  // What puts the terminal back in order.
  process.emit("exit", EXIT.interrupted);
  process.removeAllListeners("SIGINT");
  process.kill(process.pid, "SIGINT");
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The first signal, which asks for a clean stop. The second ends this process at once. */
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
