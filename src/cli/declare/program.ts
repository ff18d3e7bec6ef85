import { Command, CommanderError } from "commander";
import { DarumaError } from "../../core/errors/errors.js";
import { oursFor } from "../../core/text/foreign-words.js";
import { DEFAULT_OUTPUT_FOLDER } from "../../run/wiring/output-folder.js";
import { checkLocation, locationOf, type RunsLocation } from "../remote/runs-location.js";
import { type GlobalOptions, openSession } from "../terminal/channel.js";
import { EXIT, exitCodeOfError } from "../terminal/exit-codes.js";
import { reportError } from "../terminal/report-error.js";
import { readVersion } from "../version.js";
import { groupCommands, printTopic } from "./command-groups.js";
import { commandWord, plainWords } from "./command-word.js";
import type { Declaration } from "./declaration.js";
import { declareRunCommands } from "./declare-run-commands.js";
import { declareServerCommands } from "./declare-server-commands.js";

/** Runs one command line and returns its exit code. Never throws. */
export async function runCommandLine(given: readonly string[]): Promise<number> {
  const args = asHelpFlag(given);
  const answer = { exitCode: 0 };
  const program = await createProgram(answer, args);
  const [command, topic] = plainWords(args);
  if (command === "help" && topic !== undefined && printTopic(program, topic)) return EXIT.completed;
  try {
    await program.parseAsync(args, { from: "user" });
    return answer.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return endParsing(error, args, program);
    reportError(error, openSession(globalOptions(program)));
    return exitCodeOfError(error);
  }
}

/** Turns `help schedules pause` into `schedules pause --help`, because the parser's own `help` reads only one word. */
function asHelpFlag(args: readonly string[]): readonly string[] {
  const [command, ...words] = plainWords(args);
  if (command !== "help" || words.length < 2) return args;
  const at = args.indexOf("help");
  return [...args.slice(0, at), ...args.slice(at + 1), "--help"];
}

/**
 * Commands that are declared by hand. Their start time matters most, and the table of operations with its schemas takes
 * about 60 ms to load.
 */
const LIGHT_WORDS: ReadonlySet<string> = new Set([
  "init",
  "run",
  "flows",
  "resume",
  "serve",
  "worker",
  "mcp",
  "config",
]);

/** Creates the program with the commands that this command line could mean. */
export async function createProgram(answer: { exitCode: number }, args: readonly string[]): Promise<Command> {
  const program = new Command("daruma")
    .description(
      "Runs workflows that survive failure: steps retry, repair and go back, and a run that was killed continues.",
    )
    .version(readVersion(), "-V, --version", "print the version")
    .option("--output-dir <dir>", "folder for the database, logs and artifacts", DEFAULT_OUTPUT_FOLDER)
    .option("--store <store>", "a database file, or postgres://... (also: DARUMA_STORE)")
    .option("--server <url>", "send the command to a server (also: DARUMA_SERVER)")
    .option("--token <token>", "the server's token (safer: DARUMA_TOKEN)")
    .option("--config <file>", "settings file, such as daruma.config.yaml (also: DARUMA_CONFIG)")
    .option("--no-config", "use no settings file, not even one that is found")
    .option("--json", "print the result as JSON on stdout; progress goes to stderr")
    .option("--no-color", "no colours (also: NO_COLOR)")
    .option("-q, --quiet", "print errors only")
    .option("--debug", "print the details of each decision, and stack traces of unexpected errors")
    .helpOption("-h, --help", "print this help")
    .configureOutput({ writeErr: () => {}, outputError: () => {} })
    .exitOverride();
  const act: Declaration["act"] = async (work) => {
    checkLocation(program.opts<RunsLocation>(), process.env);
    answer.exitCode = await work(openSession(globalOptions(program)));
  };
  declareRunCommands({ program, act });
  const word = commandWord(args);
  const isLight = LIGHT_WORDS.has(word) || /^(-V|--version)$/.test(args[0] ?? "");
  if (!isLight) (await import("./declare-operations.js")).declareOperations({ program, act }, word);
  declareServerCommands({ program, act });
  groupCommands(program);
  return program;
}

function globalOptions(program: Command): GlobalOptions {
  const flags = program.opts<
    Pick<GlobalOptions, "outputDir" | "color"> & RunsLocation & { config?: string | false }
  >();
  const noConfig = flags.config === false;
  const config =
    flags.config === false ? undefined : (flags.config ?? (process.env.DARUMA_CONFIG || undefined));
  const place = locationOf(flags, process.env);
  return { json: false, quiet: false, debug: false, ...flags, ...place, config, noConfig };
}

/** The exit code when parsing ends early: help and version are results, everything else is a usage error. */
function endParsing(error: CommanderError, args: readonly string[], program: Command): number {
  if (error.exitCode === 0) return EXIT.completed;
  const asked = askedCommand(program, args);
  const ours = foreignHint(error, asked.command);
  const hint = ours ?? `See \`${asked.words} --help\`.`;
  // Our own hint replaces the parser's guess by spelling, since nobody reads on after "Did you mean stats?".
  const message = ours === null ? usageMessage(error) : usageMessage(error).replace(/ \(Did you mean .*/, "");
  const flags = args.slice(0, args.includes("--") ? args.indexOf("--") : undefined);
  const session = openSession({
    outputDir: DEFAULT_OUTPUT_FOLDER,
    json: flags.includes("--json"),
    color: !flags.includes("--no-color"),
    quiet: false,
    debug: false,
  });
  if (error.code === "commander.help" && !session.options.json)
    session.err.write(asked.command.helpInformation());
  else reportError(new DarumaError("USAGE", message, { hint }), session);
  return EXIT.usage;
}

/** The deepest command that the words name: `token create` in `token create bob --role boss`. */
function askedCommand(
  program: Command,
  args: readonly string[],
): { readonly command: Command; readonly words: string } {
  let [command, words] = [program, "daruma"];
  for (const word of args) {
    const next = command.commands.find((each) => each.name() === word);
    if (next !== undefined) [command, words] = [next, `${words} ${word}`];
    else if (command !== program && !word.startsWith("-")) break;
  }
  return { command, words };
}

function usageMessage(error: CommanderError): string {
  if (error.code === "commander.help") return "no command given";
  return error.message
    .replace(/^error: /, "")

    .replace(/^command-argument value (.*) is invalid for argument '([^']*)'\./, "invalid $2 $1.")
    .replace(/^option '(--[\w-]+)[^']*' argument (.*) is invalid\./, "invalid value $2 for $1.")
    .replace(/\s*\n\s*/g, " ");
}

const UNKNOWN_FLAG = /^error: unknown option '(--[\w-]+|-[a-z])/;

/** A hint for a name that other tools use for something that is called otherwise here. */
function foreignHint({ code, message }: CommanderError, command: Command): string | null {
  const word = /^error: unknown command '(.*)'/.exec(message)?.[1];
  if (code === "commander.unknownCommand") return sentence(oursFor("command", word ?? ""));
  const flag = UNKNOWN_FLAG.exec(message)?.[1];
  if (code !== "commander.unknownOption" || flag === undefined) return null;
  const hasDryRun = command.options.some(({ long }) => long === "--dry-run");
  if (flag === "-n" && hasDryRun) return "Write it as `--dry-run`.";
  return sentence(oursFor("flag", flag));
}

function sentence(words: string | null): string | null {
  return words === null ? null : `${words[0]!.toUpperCase()}${words.slice(1)}.`;
}
