import { InvalidArgumentError } from "commander";
import type { ResumeFlags, RunFlags } from "../commands/run/run-flags.js";
import type { Declaration } from "./declaration.js";
import { parseRunReference, type RunReference } from "./run-reference.js";

export const RUN_ARGUMENT = "its number, or last";

/** The commands that run workflows. Their words are the table's (a test compares them), their flags are not. */
export function declareRunCommands({ program, act }: Declaration): void {
  program
    .command("init")
    .description("write a small workflow file to start from")
    .argument("[file]", "the file to write; an existing file is never overwritten", "workflow.yaml")
    .addHelpText(
      "after",
      `
Examples:
  daruma init
  daruma init release.yaml`,
    )
    .action((file: string) =>
      act(async (session) => (await import("../commands/run/init.js")).init(file, session)),
    );
  program
    .command("run")
    .description("run a workflow file to its end")
    .argument(
      "<file>",
      "a workflow file, YAML or JSON, or - for standard input; with --stored the name of a workflow, or name@version",
    )
    .option("--max-parallel <n>", "attempts at a time (default: the number of cores)", wholeNumber(1))
    .option("--input <name=value>", "an input of the workflow; may be given several times", collect)
    .option(
      "--context <file>",
      "a JSON object whose keys become variables of expressions, such as pr and files",
    )
    .option("--on-fail-max-loops <n>", "overrides routing.max_loops", wholeNumber(0))
    .option("--retry-max <n>", "overrides every step's retry.max", wholeNumber(0))
    .option(
      "--no-failure-routing",
      "a failure fails its step at once; only restarts after a lost worker stay",
    )
    .option("--only <step>", "one attempt of this step (more only after a lost worker), and nothing else")
    .option("--stored", "run a stored workflow instead of a file")
    .option("--key <text>", "the same key again starts nothing: it is about the run that it started")
    .option("--verbose", "also show what steps print, each line with the name of its step")
    .option("--detach", "with --server: only start it, and print its number")
    .option(
      "--folder <dir>",
      "with --server: where its steps run and relative paths start; the server and its workers must have it (default: the file's folder if the server is on this machine)",
    )
    .option("--no-folder", "with --server: each worker gives the run a folder of its own")
    .option("--cancel-on-interrupt", "with --server: Ctrl-C cancels the run instead of leaving it")
    .addHelpText(
      "after",
      `
Examples:
  daruma run release.yaml
  daruma run release.yaml --input target=production --max-parallel 4
  daruma run release.yaml --only test --verbose
  daruma run release.yaml --json > result.json
  generate-workflow | daruma run -
  daruma run release.yaml --server http://127.0.0.1:7420 --detach`,
    )
    .action((file: string, flags: RunFlags) =>
      act(async (session) => (await import("../commands/run/run.js")).run(file, flags, session)),
    );
  program
    .command("resume")
    .description(
      "go on with a run that was interrupted, paused or resolved; tell the result of one that is over",
    )
    .argument("<run>", RUN_ARGUMENT, runReference)
    .option("--max-parallel <n>", "attempts at a time (default: the number of cores)", wholeNumber(1))
    .option("--verbose", "also show what steps print, each line with the name of its step")
    .option("--detach", "with --server: only let it go on")
    .option("--cancel-on-interrupt", "with --server: Ctrl-C cancels the run instead of leaving it")
    .option("--reason <text>", 'why a pause is lifted; is kept in the log (default: "by hand")')
    .option("--key <text>", "the same key is taken once, however often it is given")
    .addHelpText(
      "after",
      `
A pause is lifted. Of a run whose process still lives only the pause is lifted; it goes on there.
What the run was started with (inputs, --retry-max and the like) is kept with it.

Examples:
  daruma resume 3
  daruma resume last --json`,
    )
    .action((run: RunReference, flags: ResumeFlags) =>
      act(async (session) => (await import("../commands/run/resume.js")).resume(run, flags, session)),
    );
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
  if (reference === null) throw new InvalidArgumentError("A run is named by its number, or last.");
  return reference;
}

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
