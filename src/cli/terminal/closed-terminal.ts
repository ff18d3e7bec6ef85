import { closeSync, openSync } from "node:fs";
import { isatty } from "node:tty";

const STANDARD_STREAMS = [0, 1, 2];

/**
 * As it ends, Node puts terminals back as it found them, and crashes over one whose window was closed meanwhile. A
 * stream that is no longer that terminal is left alone.
 */
export function outliveTerminal(): void {
  const terminals = STANDARD_STREAMS.filter((stream) => isatty(stream));
  process.on("exit", () => {
    for (const stream of terminals) if (!isatty(stream)) replace(stream);
  });
}

/** What is opened next gets the number that has become free. */
function replace(stream: number): void {
  try {
    closeSync(stream);
    openSync("/dev/null", "r+");
  } catch {
    // It is closed at least, which is enough.
  }
}
