import { Argument } from "commander";
import type { McpFlags } from "../commands/serve/mcp.js";
import type { ServeFlags } from "../commands/serve/serve.js";
import type { WorkerFlags } from "../commands/serve/worker.js";
import type { Shell } from "../completion/scripts.js";
import type { Declaration } from "./declaration.js";
import { collect, wholeNumber } from "./declare-run-commands.js";

/** Declares commands that keep running. They are processes, not operations. */
export function declareServerCommands({ program, act }: Declaration): void {
  program
    .command("completion")
    .description("print a script that completes commands and flags in your shell")
    .addArgument(new Argument("<shell>", "your shell").choices(["bash", "zsh", "fish"]))
    .addHelpText(
      "after",
      `
Examples:
  source <(daruma completion bash)                                    in ~/.bashrc
  source <(daruma completion zsh)                                     in ~/.zshrc, after compinit
  daruma completion fish > ~/.config/fish/completions/daruma.fish`,
    )
    .action((shell: Shell) =>
      act(async (session) =>
        (await import("../commands/run/completion.js")).completion(shell, program, session),
      ),
    );
  program
    .command("serve")
    .description("run a server with a web page, REST, event streams, MCP and workers")
    .option("--host <address>", "address to listen on (default: 127.0.0.1); other addresses need tokens")
    .option("--port <n>", "port to listen on (default: 7420; 0: any free port)", wholeNumber(0))
    .option("--url <url>", "address where others reach the server, if it differs")
    .option(
      "--max-parallel <n>",
      "maximum number of attempts at a time in this process (default: the number of cores)",
      wholeNumber(0),
    )
    .option("--require-tokens", "require a token even while none exists")
    .option("--allow-origin <origin>", "allow web pages from this origin to use the API; repeatable", collect)
    .option(
      "--rate-limit <n>",
      "requests per minute for one token (default: 6000; 0: no limit)",
      wholeNumber(0),
    )
    .option(
      "--runs-per-minute <n>",
      "runs that one token may start per minute (default: 1000; 0: no limit)",
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
      "how long a run stays with a server, and an attempt with a worker, that sends no heartbeat (default: 30 for runs, 90 for attempts)",
      wholeNumber(1),
    )
    .option("--trust-proxy", "take the client's address from x-forwarded-for")
    .option("--open", "open the page in the browser of this machine")
    .addHelpText(
      "after",
      `
It continues the runs that it, or another server with the same store, was running. SIGTERM or Ctrl-C stops it
cleanly; a second one ends it immediately.

Examples:
  daruma serve --open
  daruma token create ci --role operator
  daruma serve --host 0.0.0.0 --port 7420 --store postgres://daruma@db/daruma --max-parallel 0`,
    )
    .action((flags: ServeFlags) =>
      act(async (session) => (await import("../commands/serve/serve.js")).serve(flags, session)),
    );
  program
    .command("page")
    .description("open the page of a server, or one of its runs, in the browser")
    .argument("[run]", "a run: its number, or last")
    .argument("[step]", "a step of it")
    .addHelpText(
      "after",
      `
It prints the address, and opens it where there is a browser.

Examples:
  daruma page --server http://127.0.0.1:7420
  DARUMA_SERVER=http://127.0.0.1:7420 daruma page last`,
    )
    .action((run: string | undefined, step: string | undefined) =>
      act(async (session) => (await import("../commands/serve/page.js")).page(run, step, session)),
    );
  program
    .command("worker")
    .description("execute attempts for a server until it is stopped")
    .option("--name <name>", "name of the worker (default: the host's name and the process id)")
    .option(
      "--slots <n>",
      "maximum number of attempts at a time (default: the number of cpus)",
      wholeNumber(1),
    )
    .option("--cpus <n>", "processors that steps may request (default: all that it may use)", wholeNumber(1))
    .option("--memory <size>", "memory that steps may request, such as 8g (default: all that it may use)")
    .option(
      "--gpus <list>",
      "GPUs that steps may request: how many, or their names (default: all that it may use)",
    )
    .option("--tags <list>", "tags that steps may request with runs_on, separated by commas")
    .option("--token-file <file>", "file with the token, which only its owner may read")
    .option(
      "--lifetime <duration>",
      "how long the worker may stay, such as 10m (default: until it is stopped)",
    )
    .option(
      "--drain-before <duration>",
      "how long before the end of its lifetime it takes no more attempts (default: 0)",
    )
    .option("--idle-exit <duration>", "how long the worker may be idle before it leaves (default: it stays)")
    .option(
      "--allocation <id>",
      "allocation that it runs in, as CLUSTER/ID (default: what Slurm or Grid Engine says)",
    )
    .option(
      "--restart <n>",
      "how often the allocation was started again (default: what Slurm or Grid Engine says)",
      wholeNumber(0),
    )
    .option(
      "--node <name>",
      "machine that it runs on (default: what Slurm or Grid Engine says, otherwise the host's name)",
    )
    .addHelpText(
      "after",
      `
Logs are sent to the server as they are written. SIGTERM or Ctrl-C lets running attempts finish; a second one ends
them; a third ends the worker immediately. Several servers, separated by commas, are tried in turn.
Within an allocation of Slurm or Grid Engine, or a control group, it offers the processors and memory that it has there.

Examples:
  DARUMA_TOKEN=drm_... daruma worker --server https://daruma.example
  daruma worker --server http://10.0.0.5:7420 --slots 4 --memory 16g --tags gpu,linux
  daruma worker --server http://10.0.0.5:7420 --token-file ~/.daruma-token --lifetime 2h --drain-before 5m --idle-exit 1m`,
    )
    .action((flags: WorkerFlags) =>
      act(async (session) => (await import("../commands/serve/worker.js")).worker(flags, session)),
    );
  program
    .command("mcp")
    .description("run an MCP server on stdin and stdout: the operations as tools for an agent")
    .option(
      "--role <role>",
      "viewer reads, operator also starts runs and decides holds, admin may do everything",
      "operator",
    )
    .option("--as <name>", "name in the log for everything that is decided through it, such as agent")
    .addHelpText(
      "after",
      `
Without --server it uses the runs of --output-dir or --store, and runs new ones itself.
Every \`daruma serve\` offers the same tools at /mcp.

Examples:
  daruma mcp
  daruma mcp --role viewer --output-dir /srv/daruma
  DARUMA_TOKEN=drm_... daruma mcp --server https://daruma.example`,
    )
    .action((flags: McpFlags) =>
      act(async (session) => (await import("../commands/serve/mcp.js")).mcp(flags, session)),
    );
  declareConfig({ program, act });
}

function declareConfig({ program, act }: Declaration): void {
  const config = program
    .command("config")
    .description("check the settings file daruma.config.yaml, or print its schema");
  config
    .command("check")
    .description("check a settings file and say what it sets")
    .argument("[file]", "the settings file (default: --config, DARUMA_CONFIG, or daruma.config.yaml)")
    .addHelpText(
      "after",
      `
Examples:
  daruma config check
  daruma config check /etc/daruma/daruma.config.yaml --json`,
    )
    .action((file: string | undefined) =>
      act(async (session) => (await import("../commands/serve/config.js")).checkConfig(file, session)),
    );
  config
    .command("schema")
    .description("print the JSON Schema of settings files, for editors")
    .addHelpText(
      "after",
      `
Examples:
  daruma config schema > daruma.config.schema.json`,
    )
    .action(() =>
      act(async (session) => (await import("../commands/serve/config.js")).configSchema(session)),
    );
}
