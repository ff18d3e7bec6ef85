import { closeSync, openSync } from "node:fs";
import { isatty } from "node:tty";

const STANDARD_STREAMS = [0, 1, 2];

/**
 * Keeps the process from crashing at its end: Node restores terminals and crashes if a window was closed meanwhile. A
 * stream that is no longer that terminal is left alone.
 */
export function outliveTerminal(): void {
  const terminals = STANDARD_STREAMS.filter((stream) => isatty(stream));
  process.on("exit", () => {
    for (const stream of terminals) if (!isatty(stream)) replace(stream);
  });
}

/** Replaces a stream by closing it: the next file that is opened gets the free number. */
function replace(stream: number): void {
  try {
    closeSync(stream);
    openSync("/dev/null", "r+");
  } catch {
    // The stream is at least closed, which is enough.
  }
}
