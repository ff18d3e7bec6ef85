import { type Command, InvalidArgumentError } from "commander";
import { MAX_PRIORITY } from "../../core/groups/concurrency.js";
import type { ResumeFlags, RunFlags } from "../commands/run/run-flags.js";
import type { FlowFlags } from "../commands/run/run-flow.js";
import { reportOption } from "../write-reports.js";
import type { Declaration } from "./declaration.js";
import { parseRunReference, type RunReference } from "./typed-names.js";

export const STRICT_FLAG = "--strict";
export const STRICT_WORDS = "exit with 1 if a failure was handled, and report it as a failure";

export const RUN_ARGUMENT = "its number, or last";

/**
 * Declares the commands that run workflows. Their descriptions come from the table (a test compares them), their flags
 * do not.
 */
export function declareRunCommands({ program, act }: Declaration): void {
  program
    .command("init")
    .description(
      "write a first workflow file, from package.json, pyproject.toml or a Makefile if there is one",
    )
    .argument("[file]", "the file to write; an existing file is never overwritten", "workflow.yaml")
    .option(
      "--example",
      "write the example even if package.json, pyproject.toml or a Makefile says what to run",
    )
    .addHelpText(
      "after",
      `
Examples:
  daruma init
  daruma init release.yaml
  daruma init --example`,
    )
    .action((file: string, flags: { example?: boolean }) =>
      act(async (session) => (await import("../commands/run/init.js")).init(file, flags, session)),
    );
  asRun(program.command("run"))
    .description("run a workflow file to its end")
    .addHelpText(
      "after",
      `
Examples:
  daruma run release.yaml
  daruma run release.yaml --input target=production --max-parallel 4
  daruma run release.yaml --only test --verbose
  daruma run release.yaml --reuse
  daruma run release.yaml --reuse --dry-run
  daruma run release.yaml --json > result.json
  daruma run release.yaml --priority 10
  daruma run ci.yaml --report junit=results.xml --report html=run.html --report github
  generate-workflow | daruma run -
  daruma run release.yaml --server http://127.0.0.1:7420 --detach`,
    )
    .action((file: string, flags: RunFlags) =>
      act(async (session) => (await import("../commands/run/run.js")).run(file, flags, session)),
    );
  program
    .command("flows")
    .description("run the flows of a module")
    .command("run")
    .description("run a flow of a module to its end")
    .argument("<file>", "a module that exports flows (.js or .mjs; .ts from Node 22.18 on)")
    .argument("<name>", "the flow's name")
    .option("--input <json>", "what the program is given, as JSON")
    .option("--key <text>", "starts only one run: the same key again goes on with the run that it started")
    .option(
      "--max-parallel <n>",
      "maximum number of attempts at a time (default: the number of cores)",
      wholeNumber(1),
    )
    .option("-v, --verbose", "also show what steps print, each line prefixed with the step's name")
    .addOption(reportOption())
    .option(STRICT_FLAG, STRICT_WORDS)
    .addHelpText(
      "after",
      `
Examples:
  daruma flows run order.mjs order --input '{ "id": 7 }' --key order-7`,
    )
    .action((file: string, name: string, flags: FlowFlags) =>
      act(async (session) =>
        (await import("../commands/run/run-flow.js")).runFlow(file, name, flags, session),
      ),
    );
  program
    .command("resume")
    .description("continue a run that was interrupted or paused, or print the result of a finished one")
    .argument("<run>", `a run: ${RUN_ARGUMENT}`, runReference)
    .option(
      "--max-parallel <n>",
      "maximum number of attempts at a time (default: the number of cores)",
      wholeNumber(1),
    )
    .option("-v, --verbose", "also show what steps print, each line prefixed with the step's name")
    .addOption(reportOption())
    .option(STRICT_FLAG, STRICT_WORDS)
    .option("--detach", "with --server: continue the run without waiting")
    .option("--cancel-on-interrupt", "with --server: Ctrl-C cancels the run instead of leaving it")
    .option("--reason <text>", 'why the pause is lifted; kept in the log (default: "by hand")')
    .option("--key <text>", "a command with the same key is applied only once")
    .option("--flows <file>", "a module that exports the run's flow (.js or .mjs; .ts from Node 22.18 on)")
    .addHelpText(
      "after",
      `
This also lifts a pause. If another process is still running the run, only the pause is lifted; the run continues there.
The run keeps what it was started with: inputs, --retry-max and so on.

Examples:
  daruma resume 3
  daruma resume 3 --flows order.mjs
  daruma resume last --json`,
    )
    .action((run: RunReference, flags: ResumeFlags) =>
      act(async (session) => (await import("../commands/run/resume.js")).resume(run, flags, session)),
    );
}

/** Adds the arguments and options of `run`. */
function asRun(command: Command): Command {
  return command
    .argument(
      "<file>",
      "a workflow file (YAML or JSON), or - for standard input; with --stored: the name of a workflow, or name@version",
    )
    .option(
      "--max-parallel <n>",
      "maximum number of attempts at a time (default: the number of cores)",
      wholeNumber(1),
    )
    .option("--input <name=value>", "an input of the workflow; repeatable", collect)
    .option(
      "--context <file>",
      "a JSON object whose keys become variables of expressions, such as pr and files",
    )
    .option("--label <key=value>", "a label to find the run by; repeatable", collect)
    .option(
      "--priority <n>",
      "runs with a higher number get places and workers first (default: the workflow's, or 0)",
      priorityNumber,
    )
    .option("--on-fail-max-loops <n>", "override routing.max_loops", wholeNumber(0))
    .option("--retry-max <n>", "override retry.max of every step", wholeNumber(0))
    .option(
      "--no-failure-routing",
      "a failure fails its step immediately; only restarts after a lost worker remain",
    )
    .option("--only <step>", "run one attempt of this step (more only after a lost worker), and nothing else")
    .option(
      "--reuse [run]",
      "take over jobs that have not changed from the newest ended run, or from this one; only the rest runs",
      reusedRun,
    )
    .option(
      "--keep-stood-in",
      "with --reuse: also take over steps that another step stood in for, and what depends on them",
    )
    .option("-n, --dry-run", "with --reuse: say which jobs would run, and why; run and record nothing")
    .option("--stored", "run a stored workflow instead of a file")
    .option("--key <text>", "repeating the same key starts nothing; the command follows the run it started")
    .option("-v, --verbose", "also show what steps print, each line prefixed with the step's name")
    .addOption(reportOption())
    .option(STRICT_FLAG, `${STRICT_WORDS}; recorded in the run`)
    .option("--detach", "with --server: start the run and print its number, without waiting")
    .option(
      "--folder <dir>",
      "with --server: the folder its steps run in; it must exist on the server and its workers (default: the file's folder if the server is on this machine)",
    )
    .option("--no-folder", "with --server: each worker gives the run its own folder")
    .option("--cancel-on-interrupt", "with --server: Ctrl-C cancels the run instead of leaving it");
}

function priorityNumber(text: string): number {
  const value = Number(text);
  if (!/^-?\d+$/.test(text) || Math.abs(value) > MAX_PRIORITY)
    throw new InvalidArgumentError(`It must be a whole number from -${MAX_PRIORITY} to ${MAX_PRIORITY}.`);
  return value;
}

export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least) {
      throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`);
    }
    return value;
  };
}

export function runReference(text: string): RunReference {
  const reference = parseRunReference(text);
  if (reference === null) throw new InvalidArgumentError("Use the number of a run, or last.");
  return reference;
}

/** Parses the run after --reuse. The word may instead be the file that was meant to be run. */
function reusedRun(text: string): RunReference {
  const reference = parseRunReference(text);
  if (reference === null)
    throw new InvalidArgumentError("Use the number of a run, or last. Put the workflow file before --reuse.");
  return reference;
}

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
