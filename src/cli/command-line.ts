import { closeSync, openSync } from "node:fs";
import { isatty } from "node:tty";
import type { Worker } from "node:worker_threads";
import { keepSpareThread } from "../store/sqlite/database-thread.js";
import { runCommandLine } from "./declare/program.js";
import { growHeapAsUsual } from "./heap-growth.js";
import { flushStreams, watchPipes } from "./terminal/broken-pipe.js";
import { EXIT } from "./terminal/exit-codes.js";

const STANDARD_STREAMS = [0, 1, 2];

/**
 * Keeps the process from crashing at its end: Node restores terminals and crashes if a window was closed meanwhile. A
 * stream that is no longer that terminal is left alone.
 */
function outliveTerminal(): void {
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

/** Entry of the bundled program, which `main.ts` loads. Returns the exit code once everything is printed. */
export async function runToEnd(args: readonly string[], databaseThread: Worker | null): Promise<number> {
  if (databaseThread !== null) keepSpareThread(databaseThread);
  watchPipes();
  outliveTerminal();
  const exitCode = await runCommandLine(args);
  await flushStreams();
  growHeapAsUsual();
  return exitCode;
}

/**
 * Whether the command was refused. It then loaded too little of the program for the compiled code to be worth caching.
 */
export function wasRefused(exitCode: number): boolean {
  return exitCode === EXIT.usage || exitCode === EXIT.infrastructure;
}
