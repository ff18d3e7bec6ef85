import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { DarumaError } from "../core/errors.js";
import { type GlobalOptions, openSession, type Session } from "./channel.js";
import { DEFAULT_OUTPUT_DIR } from "./command-words.js";
import { declareOperatorCommands } from "./declare-operator-commands.js";
import { declareReadingCommands } from "./declare-reading-commands.js";
import { declareRunCommands } from "./declare-run-commands.js";
import { EXIT, exitCodeOfError } from "./exit-codes.js";
import { reportError } from "./report-error.js";

/** Runs one command line and answers with its exit code. Nothing is thrown. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const answer = { exitCode: 0 };
  const program = createProgram(answer);
  try {
    await program.parseAsync(args, { from: "user" });
    return answer.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return endParsing(error, args, program);
    reportError(error, openSession(globalOptions(program)));
    return exitCodeOfError(error);
  }
}

/** What a command needs to say how it went, and how it is declared. */
export interface Declaration {
  readonly program: Command;
  /** Runs the command's own module, loaded only now: a start must not pay for the other commands. */
  readonly act: (work: (session: Session) => Promise<number>) => Promise<void>;
}

function createProgram(answer: { exitCode: number }): Command {
  const program = new Command("daruma")
    .description(
      "Runs workflows that get up again: retry, repair, jump back, and survive being killed at any instant.",
    )
    .version(readVersion(), "-V, --version", "print the version")
    .option("--output-dir <dir>", "where the database, logs and artifacts lie", DEFAULT_OUTPUT_DIR)
    .option("--json", "print the result as JSON on stdout; progress goes to stderr")
    .option("--no-color", "no colours (also: NO_COLOR)")
    .option("-q, --quiet", "print only what went wrong")
    .option("--debug", "print what led to each decision, and where unexpected errors come from")
    .helpOption("-h, --help", "print this help")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeErr: () => {}, outputError: () => {} })
    .exitOverride()
    .addHelpText("after", EXAMPLES);
  const act: Declaration["act"] = async (work) => {
    answer.exitCode = await work(openSession(globalOptions(program)));
  };
  declareRunCommands({ program, act });
  declareOperatorCommands({ program, act });
  declareReadingCommands({ program, act });
  return program;
}

const EXAMPLES = `
Examples:
  daruma run release.yaml          run a workflow file
  daruma explain last              why did the newest run go as it did?
  daruma resume last               go on with it after a crash, Ctrl-C, pause or hold
  daruma holds                     what waits for a decision?

Exit codes: 0 completed, 1 failed, 2 bad usage or workflow file, 3 held or paused, 4 canceled,
5 store or infrastructure, 130 interrupted (the run stays resumable)`;

function readVersion(): string {
  const file = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(file) as { version: string }).version;
}

function globalOptions(program: Command): GlobalOptions {
  return {
    json: false,
    quiet: false,
    debug: false,
    ...program.opts<Pick<GlobalOptions, "outputDir" | "color">>(),
  };
}

/** Help and version are results; everything else that ends the parsing is bad usage. */
function endParsing(error: CommanderError, args: readonly string[], program: Command): number {
  if (error.exitCode === 0) return EXIT.completed;
  const asked = args.find((word) => program.commands.some((command) => command.name() === word));
  const hint = `See \`daruma ${asked === undefined ? "" : `${asked} `}--help\`.`;
  const flags = args.slice(0, args.includes("--") ? args.indexOf("--") : undefined);
  const session = openSession({
    outputDir: DEFAULT_OUTPUT_DIR,
    json: flags.includes("--json"),
    color: !flags.includes("--no-color"),
    quiet: false,
    debug: false,
  });
  if (error.code === "commander.help" && !session.options.json) session.err.write(program.helpInformation());
  else reportError(new DarumaError("USAGE", usageMessage(error), { hint }), session);
  return EXIT.usage;
}

function usageMessage(error: CommanderError): string {
  if (error.code === "commander.help") return "no command is given";
  return error.message.replace(/^error: /, "").replace(/\s*\n\s*/g, " ");
}
