#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { MIN_OPEN_FILES, openFileLimit } from "../action/process/open-file-limit.js";
import { startDatabaseThread } from "../store/sqlite/database-thread.js";
import { loadProgram } from "./start/load-program.js";
import { needsDatabase } from "./start/needs-database.js";

/** Of the bundle, put in by `scripts/build.mjs`. */
declare const DARUMA_BUILD: string;

/** `EXIT.infrastructure`, whose file would bring every error code with it. */
const FEW_FILES_EXIT = 5;

/** Before the rest is loaded: a run that lacks files fails in many ways, each harder to understand. */
function refuseFewFiles(limit: number): void {
  const code = "FILE_LIMIT";
  const message = `this process may open only ${limit} files; daruma needs ${MIN_OPEN_FILES}`;
  const hint = "Raise the limit first: ulimit -n 1024";
  if (process.argv.includes("--json"))
    process.stdout.write(`${JSON.stringify({ error: { code, message, hint } })}\n`);
  else process.stderr.write(`error ${code}: ${message}. ${hint}\n`);
}

async function start(args: readonly string[]): Promise<never> {
  const file = fileURLToPath(new URL("./command-line.js", import.meta.url));
  const database = new URL("./sqlite-thread.js", import.meta.url);
  const thread = needsDatabase(args, process.env) ? startDatabaseThread(database) : null;
  const program = loadProgram<typeof import("./command-line.js")>(file, DARUMA_BUILD, args);
  const exitCode = await program.exports.runToEnd(args, thread);
  if (!program.exports.wasRefused(exitCode)) program.keep();
  // Threads and launchers that are still closing must not hold up the prompt.
  process.exit(exitCode);
}

const limit = openFileLimit();
if (limit !== null && limit < MIN_OPEN_FILES) {
  refuseFewFiles(limit);
  process.exitCode = FEW_FILES_EXIT;
} else {
  void start(process.argv.slice(2));
}
