#!/usr/bin/env node
import { flushStreams, watchPipes } from "./broken-pipe.js";
import { outliveTerminal } from "./closed-terminal.js";
import { runCommandLine } from "./program.js";

watchPipes();
outliveTerminal();
const exitCode = await runCommandLine(process.argv.slice(2));
await flushStreams();
// Threads and launchers that are still closing must not hold up the prompt.
process.exit(exitCode);
