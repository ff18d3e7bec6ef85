import type { McpFlags } from "../commands/serve/mcp.js";
import type { ServeFlags } from "../commands/serve/serve.js";
import type { WorkerFlags } from "../commands/serve/worker.js";
import type { Declaration } from "./declaration.js";
import { collect, wholeNumber } from "./declare-run-commands.js";

/** The commands that stay: they are processes, not operations. */
export function declareServerCommands({ program, act }: Declaration): void {
  program
    .command("serve")
    .description("run a server: REST, event streams, and the runs that are started there")
    .option("--host <address>", "where to listen (default: 127.0.0.1); elsewhere only with tokens")
    .option("--port <n>", "default: 7420; 0: any that is free", wholeNumber(0))
    .option("--url <url>", "where others reach the server, if not where it listens")
    .option(
      "--max-parallel <n>",
      "attempts at a time in this process (default: the number of cores)",
      wholeNumber(0),
    )
    .option("--require-tokens", "ask for a token even while none exists")
    .option(
      "--allow-origin <origin>",
      "a web page of this origin may use the API; may be given several times",
      collect,
    )
    .option("--rate-limit <n>", "requests a minute of one token (default: 6000; 0: no limit)", wholeNumber(0))
    .option(
      "--runs-per-minute <n>",
      "runs that one token may start a minute (default: 1000; 0: no limit)",
      wholeNumber(0),
    )
    .option(
      "--streams-per-token <n>",
      "event streams that one token may have open (default: 200; 0: no limit)",
      wholeNumber(0),
    )
    .option("--max-connections <n>", "connections at a time (default: 4000; 0: no limit)", wholeNumber(0))
    .option(
      "--lease <seconds>",
      "how long a run stays with a server, and an attempt with a worker, that gives no sign of life (default: 30 for runs, 90 for attempts)",
      wholeNumber(1),
    )
    .option("--trust-proxy", "the address of a client stands in x-forwarded-for")
    .addHelpText(
      "after",
      `
It goes on with the runs that it, or another server of the same store, had under way. SIGTERM or Ctrl-C lets
go of them in good order; a second one ends it at once.

Examples:
  daruma serve
  daruma token create ci --role operator
  daruma serve --host 0.0.0.0 --port 7420 --store postgres://daruma@db/daruma --max-parallel 0`,
    )
    .action((flags: ServeFlags) =>
      act(async (session) => (await import("../commands/serve/serve.js")).serve(flags, session)),
    );
  program
    .command("worker")
    .description("execute attempts for a server until told to stop")
    .option("--name <name>", "as operators see it (default: the host's name and the process id)")
    .option("--slots <n>", "attempts at a time (default: as many as cpus)", wholeNumber(1))
    .option("--cpus <n>", "processors that steps may ask for (default: those there are)", wholeNumber(1))
    .option("--memory <size>", "memory that steps may ask for, such as 8g (default: what there is)")
    .option("--tags <list>", "what steps with runs_on may ask for, with commas between")
    .addHelpText(
      "after",
      `
Logs go to the server as they are written, results once. SIGTERM or Ctrl-C lets what runs finish first; a second
one ends it, a third ends the worker at once. Several servers with commas between are tried in turn.

Examples:
  DARUMA_TOKEN=drm_... daruma worker --server https://daruma.example
  daruma worker --server http://10.0.0.5:7420 --slots 4 --memory 16g --tags gpu,linux`,
    )
    .action((flags: WorkerFlags) =>
      act(async (session) => (await import("../commands/serve/worker.js")).worker(flags, session)),
    );
  program
    .command("mcp")
    .description("speak MCP over stdin and stdout: the operations as tools for an agent")
    .option(
      "--role <role>",
      "viewer only looks, operator decides holds and starts runs, admin may do all",
      "operator",
    )
    .addHelpText(
      "after",
      `
Without --server it works on the runs of --output-dir or --store, and runs what it is asked to start itself.
The same tools are at /mcp of every \`daruma serve\`.

Examples:
  daruma mcp
  daruma mcp --role viewer --output-dir /srv/daruma
  DARUMA_TOKEN=drm_... daruma mcp --server https://daruma.example`,
    )
    .action((flags: McpFlags) =>
      act(async (session) => (await import("../commands/serve/mcp.js")).mcp(flags, session)),
    );
}
