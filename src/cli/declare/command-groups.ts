import { type Command, Help } from "commander";
import type { Operation } from "../../operations/operation.js";

/** The heading of the most used commands, in the order of `daruma --help`. */
const FIRST = "Most used";

/**
 * The topics of `daruma help GROUP` with their commands. An unlisted command comes last in the group that it was
 * declared with.
 */
export const COMMAND_GROUPS: { readonly [group: string]: readonly string[] } = {
  [FIRST]: [
    ...["init", "validate", "run", "list", "show", "explain", "logs"],
    ...["inbox", "resolve", "retry", "resume", "cancel"],
  ],
  more: [
    ...["pause", "takeover", "fork", "reset", "recover", "hard-reset", "resume-from", "apply"],
    ...["report", "compare", "timeline", "events", "watch", "stats", "resources", "jobs", "job"],
    ...["flows", "definition", "artifacts", "artifact"],
  ],
  workflow: ["workflows", "workflow", "graph", "edge", "schema", "handlers", "handler"],
  failures: ["failures", "flakes", "holds", "decide", "redrive", "campaigns", "breakers"],
  server: [
    ...["serve", "page", "worker", "workers", "schedules", "notifications", "settings", "config", "token"],
    ...["whoami", "doctor", "prune", "export", "import", "completion", "help"],
  ],
  cluster: ["cluster", "allocations"],
  agents: ["mcp", "answer", "workspace"],
};

const HEADING_OF = new Map(
  Object.entries(COMMAND_GROUPS).flatMap(([heading, names]) => names.map((name) => [name, heading] as const)),
);

const titleOf = (group: string): string => `${group}:`;

const HELP_WORDS = "print the help of a command";
const TOPIC_WORDS = "print the help of a command or a group, or of all";

/** The group of an operation's command that is not listed above. */
export function usualHeading({ role, effect }: Pick<Operation, "role" | "effect">): string {
  if (role === "admin") return "server";
  return effect === "reads" ? "more" : "failures";
}

/** Sorts the commands into the order in which help lists them. */
export function groupCommands(program: Command): void {
  const order = [...HEADING_OF.keys()];
  const headings = Object.keys(COMMAND_GROUPS);
  const headingOf = (command: Command): string => HEADING_OF.get(command.name()) ?? command.helpGroup();
  const place = (command: Command): number => {
    const listed = order.indexOf(command.name());
    return headings.indexOf(headingOf(command)) * order.length + (listed < 0 ? order.length - 1 : listed);
  };
  const commands = program.commands as Command[];
  commands.sort((first, second) => place(first) - place(second));
  for (const command of commands) {
    command.helpGroup(titleOf(headingOf(command)));
    tellHelp(command);
  }
  program.commandsGroup(titleOf(HEADING_OF.get("help")!)).helpCommand("help [topic]", TOPIC_WORDS);
  program.configureHelp({ showGlobalOptions: true, subcommandTerm, formatHelp: shortHelp });
}

/** Prints the help of a group, or of `all`. Returns false if the word after `help` is neither. */
export function printTopic(program: Command, topic: string): boolean {
  const isGroup = topic !== FIRST && Object.hasOwn(COMMAND_GROUPS, topic);
  if (!isGroup && topic !== ALL) return false;
  const formatHelp = isGroup
    ? (command: Command, helper: Help) => groupHelp(command, helper, topic)
    : commandsFirst;
  program.configureHelp({ showGlobalOptions: true, subcommandTerm, formatHelp });
  program.outputHelp();
  return true;
}

const ALL = "all";

const subcommandTerm = (command: Command): string =>
  `${command.name()} ${command.usage().replace("[options]", "").trim()}`.trim();

/** Sets up the help of one command. It refers to the options of all commands instead of repeating them. */
function tellHelp(command: Command): void {
  command.configureHelp({ subcommandTerm });
  command.helpOption("-h, --help", "print this help; more options: `daruma help all`");
  for (const each of command.createHelp().visibleCommands(command))
    if (each.name() === "help") each.description(HELP_WORDS);
    else tellHelp(each);
}

/** Help with the most used commands, the groups, and where to find the rest. */
function shortHelp(program: Command, helper: Help): string {
  const first = commandsIn(program, FIRST).map((command) => rowOf(command, "", helper));
  const groups = Object.entries(COMMAND_GROUPS).filter(([group]) => group !== FIRST);
  const head = [
    `Usage: ${helper.commandUsage(program)}`,
    helper.boxWrap(program.description(), widthOf(helper)),
  ];
  return `${[
    ...head,
    rows(titleOf(FIRST), first, helper),
    rows(
      "Groups:",
      groups.map(([group, names]) => [group, names.join(", ")]),
      helper,
    ),
    helper.boxWrap(ENDING, widthOf(helper)),
  ].join("\n\n")}\n`;
}

const ENDING =
  "`daruma help GROUP` has the commands of a group, `daruma COMMAND --help` the flags and examples of a command, `daruma help all` everything.";

/** The commands of a group with their subcommands. */
function groupHelp(program: Command, helper: Help, group: string): string {
  const lines = commandsIn(program, group).flatMap((command) => [
    rowOf(command, "", helper),
    ...helper
      .visibleCommands(command)
      .filter((each) => each.name() !== "help")
      .map((each) => rowOf(each, `${command.name()} `, helper)),
  ]);
  const usage = `Usage: ${program.name()} COMMAND [options]`;
  const more = "`daruma COMMAND --help` has the flags and examples of a command.";
  return `${[usage, rows(titleOf(`Group ${group}`), lines, helper), more].join("\n\n")}\n`;
}

type Row = readonly [term: string, words: string];

function commandsIn(program: Command, group: string): readonly Command[] {
  return program
    .createHelp()
    .visibleCommands(program)
    .filter((command) => command.helpGroup() === titleOf(group));
}

function rowOf(command: Command, before: string, helper: Help): Row {
  return [`${before}${subcommandTerm(command)}`, helper.subcommandDescription(command)];
}

/** A longer term gets a line of its own, with its description below. */
const MAX_TERM = 34;

function rows(heading: string, given: readonly Row[], helper: Help): string {
  const width = Math.min(MAX_TERM, Math.max(...given.map(([term]) => term.length)));
  return [heading, ...given.map(([term, words]) => helper.formatItem(term, width, words, helper))].join("\n");
}

function widthOf(helper: Help): number {
  return helper.helpWidth ?? 80;
}

/** Formats help with commands before options, because a new user looks for a command first. */
function commandsFirst(command: Command, helper: Help): string {
  const text = Help.prototype.formatHelp.call(helper, command, helper);
  const sections = text.trimEnd().split("\n\n");
  const isOptions = (section: string): boolean => section.startsWith("Options:");
  const ordered = [...sections.filter((each) => !isOptions(each)), ...sections.filter(isOptions)];
  return `${ordered.join("\n\n")}\n${EXAMPLES}\n`;
}

const EXAMPLES = `
Examples:
  daruma init                      write workflow.yaml, a first workflow
  daruma run workflow.yaml         run it
  daruma explain last              why did the latest run go that way?
  daruma resume last               continue it after a crash, Ctrl-C or a pause
  daruma inbox                     what is waiting for a decision?

Exit codes: 0 completed, 1 failed, 2 invalid usage or workflow file, 3 held or paused, 4 canceled,
5 store or infrastructure, 130 interrupted (the run stays resumable)`;
