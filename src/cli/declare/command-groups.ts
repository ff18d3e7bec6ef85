import { type Command, Help } from "commander";
import type { Operation } from "../../operations/operation.js";

/**
 * Headings of `daruma --help`, each with its commands: the twelve that people use most, then the others. A command that
 * is not here stands last under the heading that it was declared with.
 */
export const COMMAND_GROUPS: { readonly [heading: string]: readonly string[] } = {
  "Most used:": [
    ...["init", "validate", "run", "resume", "cancel"],
    ...["list", "show", "explain", "logs"],
    ...["holds", "resolve", "retry"],
  ],
  "Run:": [
    ...["pause", "takeover", "fork", "diff-run", "graph", "edge", "schema"],
    ...["workflows", "workflow", "handlers", "handler"],
  ],
  "Look:": [
    ...[
      "inbox",
      "failures",
      "flakes",
      "compare",
      "notifications",
      "events",
      "watch",
      "jobs",
      "job",
      "stats",
      "resources",
    ],
    ...["report", "timeline", "controls"],
    ...["definition", "workspace", "artifacts", "artifact"],
  ],
  "Decide:": [
    ...["decide", "answer", "recover", "reset", "resume-from", "hard-reset"],
    ...["dead-letters", "redrive", "campaigns", "breakers", "apply"],
  ],
  "Serve:": [
    ...[
      "serve",
      "page",
      "worker",
      "mcp",
      "config",
      "settings",
      "schedules",
      "workers",
      "cluster",
      "allocations",
      "slurm",
    ],
    ...["token", "whoami", "doctor", "prune", "export", "import", "completion", "help"],
  ],
};

const HEADING_OF = new Map(
  Object.entries(COMMAND_GROUPS).flatMap(([heading, names]) => names.map((name) => [name, heading] as const)),
);

const HELP_WORDS = "print the help of a command";

/** Where a command of an operation stands that is not listed above. */
export function usualHeading({ role, effect }: Pick<Operation, "role" | "effect">): string {
  if (role === "admin") return "Serve:";
  return effect === "reads" ? "Look:" : "Decide:";
}

/** Help lists the commands under their headings, in this order. */
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
    command.helpGroup(headingOf(command));
    tellHelp(command);
  }
  program.commandsGroup(HEADING_OF.get("help")!).helpCommand("help [command]", HELP_WORDS);
  program.configureHelp({
    showGlobalOptions: true,
    subcommandTerm,
    formatHelp: commandsFirst,
  });
}

const subcommandTerm = (command: Command): string =>
  `${command.name()} ${command.usage().replace("[options]", "").trim()}`.trim();

/** Help of one command. It does not repeat the options that all commands take, so it says where they are. */
function tellHelp(command: Command): void {
  command.configureHelp({ subcommandTerm });
  command.helpOption("-h, --help", "print this help; more options: `daruma --help`");
  for (const each of command.createHelp().visibleCommands(command))
    if (each.name() === "help") each.description(HELP_WORDS);
    else tellHelp(each);
}

/** Whoever is new looks for a command, not for a flag, so the options come after the commands. */
function commandsFirst(command: Command, helper: Help): string {
  const text = Help.prototype.formatHelp.call(helper, command, helper);
  const sections = text.trimEnd().split("\n\n");
  const isOptions = (section: string): boolean => section.startsWith("Options:");
  const ordered = [...sections.filter((each) => !isOptions(each)), ...sections.filter(isOptions)];
  return `${ordered.join("\n\n")}\n`;
}
