import { InvalidArgumentError } from "commander";
import type { ResumeFlags } from "./commands/resume.js";
import type { RunFlags } from "./commands/run.js";
import type { Declaration } from "./program.js";
import { parseRunReference, type RunReference } from "./run-reference.js";

/** The commands that change something: run, resume, cancel. */
export function declareRunCommands({ program, act }: Declaration): void {
  program
    .command("run")
    .description("run a workflow file to its end")
    .argument("<file>", "a workflow file, YAML or JSON")
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
    .option("--only <step>", "exactly one attempt of this step and nothing else")
    .addHelpText(
      "after",
      `
Examples:
  daruma run release.yaml
  daruma run release.yaml --input target=production --max-parallel 4
  daruma run release.yaml --only test --debug
  daruma run release.yaml --json > result.json`,
    )
    .action((file: string, flags: RunFlags) =>
      act(async (session) => (await import("./commands/run.js")).run(file, flags, session)),
    );
  program
    .command("resume")
    .description("go on with a run whose process is gone; tell the result of one that is over")
    .argument("<run>", "its number, or last", runReference)
    .option("--max-parallel <n>", "attempts at a time (default: the number of cores)", wholeNumber(1))
    .addHelpText(
      "after",
      `
What the run was started with (inputs, --retry-max and the like) is kept with it.

Examples:
  daruma resume 3
  daruma resume last --json`,
    )
    .action((run: RunReference, flags: ResumeFlags) =>
      act(async (session) => (await import("./commands/resume.js")).resume(run, flags, session)),
    );
  program
    .command("cancel")
    .description("cancel a run, whichever process runs it")
    .argument("<run>", "its number, or last", runReference)
    .option("--reason <text>", "is kept in the log", "canceled from the command line")
    .addHelpText(
      "after",
      `
Examples:
  daruma cancel 3
  daruma cancel last --reason "wrong branch"`,
    )
    .action((run: RunReference, flags: { reason: string }) =>
      act(async (session) => (await import("./commands/cancel.js")).cancel(run, flags.reason, session)),
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
