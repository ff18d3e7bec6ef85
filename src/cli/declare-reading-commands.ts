import { Option } from "commander";
import type { EventsFlags } from "./commands/events.js";
import type { ListFlags } from "./commands/list.js";
import type { LogsFlags } from "./commands/logs.js";
import { collect, RUN_ARGUMENT, runReference, wholeNumber } from "./declare-run-commands.js";
import type { Declaration } from "./program.js";
import type { RunReference } from "./run-reference.js";

const DEFAULT_LIST_LIMIT = 20;

/** The commands that only look: at files, and at runs. */
export function declareReadingCommands(declaration: Declaration): void {
  declareFileCommands(declaration);
  declareOverviewCommands(declaration);
  declareDetailCommands(declaration);
  declareStats(declaration);
}

function declareFileCommands({ program, act }: Declaration): void {
  program
    .command("validate")
    .description("check workflow files: every problem at once, warnings, worst-case attempts")
    .argument("<file...>", "workflow files")
    .addHelpText(
      "after",
      "\nExamples:\n  daruma validate release.yaml\n  daruma validate flows/*.yaml --json",
    )
    .action((files: string[]) =>
      act(async (session) => (await import("./commands/validate.js")).validate(files, session)),
    );
  program
    .command("schema")
    .description("print the JSON Schema of workflow files, for editors")
    .addHelpText("after", "\nExamples:\n  daruma schema > daruma.schema.json")
    .action(() => act(async (session) => (await import("./commands/schema.js")).schema(session)));
  program
    .command("graph")
    .description("draw a workflow file, or a run coloured by the status of its steps")
    .argument("<file|run>", "a workflow file, the number of a run, or last")
    .addOption(
      new Option("--format <format>", "language of the picture")
        .choices(["mermaid", "dot"])
        .default("mermaid"),
    )
    .addHelpText(
      "after",
      "\nExamples:\n  daruma graph release.yaml\n  daruma graph last --format dot | dot -Tsvg > run.svg",
    )
    .action((what: string, flags: { format: "mermaid" | "dot" }) =>
      act(async (session) => (await import("./commands/graph.js")).graph(what, flags.format, session)),
    );
}

function declareOverviewCommands({ program, act }: Declaration): void {
  program
    .command("list")
    .description("list runs, newest first")
    .option("--status <status>", "only runs of this status; may be given several times", collect)
    .option("--limit <n>", "how many at most", wholeNumber(1), DEFAULT_LIST_LIMIT)
    .addHelpText("after", "\nExamples:\n  daruma list\n  daruma list --status failed --limit 5 --json")
    .action((flags: ListFlags) =>
      act(async (session) => (await import("./commands/list.js")).list(flags, session)),
    );
  program
    .command("show")
    .description("show a run: its jobs, routes, errors and state")
    .argument("<run>", RUN_ARGUMENT, runReference)
    .addHelpText("after", "\nExamples:\n  daruma show 3\n  daruma show last --json")
    .action((run: RunReference) =>
      act(async (session) => (await import("./commands/show.js")).show(run, session)),
    );
}

function declareStats({ program, act }: Declaration): void {
  program
    .command("stats")
    .description("count what failed, what was retried and what it cost, over runs")
    .argument("[run...]", `${RUN_ARGUMENT}; all runs unless told`, collectRuns)
    .addHelpText("after", "\nExamples:\n  daruma stats\n  daruma stats 3 4\n  daruma stats last --json")
    .action((runs: readonly RunReference[] | undefined) =>
      act(async (session) => (await import("./commands/stats.js")).stats(runs ?? [], session)),
    );
}

function collectRuns(text: string, before: readonly RunReference[] = []): readonly RunReference[] {
  return [...before, runReference(text)];
}

function declareDetailCommands({ program, act }: Declaration): void {
  program
    .command("events")
    .description("print a run's log, one event a line")
    .argument("<run>", RUN_ARGUMENT, runReference)
    .option("-f, --follow", "wait for more until the run is over")
    .addHelpText(
      "after",
      "\nExamples:\n  daruma events 3\n  daruma events last --json | head -1\n  daruma events last --follow",
    )
    .action((run: RunReference, flags: EventsFlags) =>
      act(async (session) => (await import("./commands/events.js")).events(run, flags, session)),
    );
  program
    .command("logs")
    .description("print what an attempt of a step printed: its stdout, then its stderr")
    .argument("<run>", RUN_ARGUMENT, runReference)
    .argument("<step>", "the step's id")
    .option("--attempt <n>", "which attempt (default: the last)", wholeNumber(1))
    .option("--stderr", "only its stderr")
    .option("--recovery", "of the recovery script that followed the attempt")
    .option("--context", "the failure that a transition brought to the attempt")
    .option("--summary", "the short account of a failed attempt")
    .option("--scope <scope>", "which branch of a fan-out, such as root/list[2]")
    .addHelpText(
      "after",
      "\nExamples:\n  daruma logs 3 build\n  daruma logs last build --attempt 1 --stderr\n  daruma logs 3 visit --scope 'root/cities[1]'\n  daruma logs 3 build --recovery --attempt 2\n  daruma logs 3 fallback --context",
    )
    .action((run: RunReference, step: string, flags: LogsFlags) =>
      act(async (session) => (await import("./commands/logs.js")).logs(run, step, flags, session)),
    );
  program
    .command("explain")
    .description("tell why a run, or one step of it, went as it did")
    .argument("<run>", RUN_ARGUMENT, runReference)
    .argument("[step]", "only this step")
    .addHelpText("after", "\nExamples:\n  daruma explain 3\n  daruma explain last build")
    .action((run: RunReference, step: string | undefined) =>
      act(async (session) => (await import("./commands/explain.js")).explainRun(run, step, session)),
    );
}
