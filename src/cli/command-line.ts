import type { Worker } from "node:worker_threads";
import { keepSpareThread } from "../store/sqlite/database-thread.js";
import { runCommandLine } from "./declare/program.js";
import { growHeapAsUsual } from "./heap-growth.js";
import { flushStreams, watchPipes } from "./terminal/broken-pipe.js";
import { outliveTerminal } from "./terminal/closed-terminal.js";
import { EXIT } from "./terminal/exit-codes.js";

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
