#!/usr/bin/env node
import { MIN_OPEN_FILES, openFileLimit } from "../action/process/open-file-limit.js";

/** Before the rest is loaded, which opens more files at once than some processes may. */
function refuseFewFiles(limit: number): void {
  const code = "FILE_LIMIT";
  const message = `this process may open only ${limit} files; daruma needs ${MIN_OPEN_FILES}`;
  const hint = "Raise the limit first: ulimit -n 1024";
  if (process.argv.includes("--json"))
    process.stdout.write(`${JSON.stringify({ error: { code, message, hint } })}\n`);
  else process.stderr.write(`error ${code}: ${message}. ${hint}\n`);
}

const limit = openFileLimit();
if (limit !== null && limit < MIN_OPEN_FILES) {
  refuseFewFiles(limit);
  process.exitCode = 5;
} else {
  const { flushStreams, watchPipes } = await import("./terminal/broken-pipe.js");
  const { outliveTerminal } = await import("./terminal/closed-terminal.js");
  const { runCommandLine } = await import("./declare/program.js");
  watchPipes();
  outliveTerminal();
  const exitCode = await runCommandLine(process.argv.slice(2));
  await flushStreams();
  // Threads and launchers that are still closing must not hold up the prompt.
  process.exit(exitCode);
}
