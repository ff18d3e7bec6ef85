#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { MIN_OPEN_FILES, openFileLimit } from "../run/process/open-file-limit.js";
import { startDatabaseThread } from "../store/sqlite/database-thread.js";
import { loadProgram } from "./start/load-program.js";
import { needsDatabase } from "./start/needs-database.js";

/** A hash of the bundle, inserted by `scripts/build.mjs`. */
declare const DARUMA_BUILD: string;

/** The value of `EXIT.infrastructure`. Importing it would load every error code. */
const FEW_FILES_EXIT = 5;

/**
 * Refuses to start with too few open files, before the rest is loaded. Otherwise a run would fail in many ways that are
 * harder to understand.
 */
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
  // Exits at once: threads and launchers that are still closing must not delay the prompt.
  process.exit(exitCode);
}

const limit = openFileLimit();
if (limit !== null && limit < MIN_OPEN_FILES) {
  refuseFewFiles(limit);
  process.exitCode = FEW_FILES_EXIT;
} else {
  void start(process.argv.slice(2));
}
