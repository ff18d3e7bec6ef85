import type { Command } from "commander";

/** Headings of `daruma --help`, each with its commands. A test asks for every command to be there once. */
export const COMMAND_GROUPS: { readonly [heading: string]: readonly string[] } = {
  "Run workflows:": ["run", "resume", "cancel", "pause", "takeover", "fork"],
  "See what happened:": [
    ...["list", "show", "explain", "logs", "events", "watch", "jobs", "job", "stats", "definition"],
  ],
  "Decide and repair:": [
    ...[
      "holds",
      "resolve",
      "answer",
      "retry",
      "reset",
      "resume-from",
      "hard-reset",
      "dead-letters",
      "redrive",
    ],
  ],
  "Write workflows:": ["validate", "graph", "schema", "workflows", "workflow", "handlers", "handler"],
  "Files of a run:": ["workspace", "apply", "artifacts", "artifact"],
  "Serve and maintain:": [
    ...["serve", "worker", "mcp", "workers", "token", "prune", "export", "import", "help"],
  ],
};

const HEADING_OF = new Map(
  Object.entries(COMMAND_GROUPS).flatMap(([heading, names]) => names.map((name) => [name, heading] as const)),
);

/** Help lists the commands under their headings, in this order. */
export function groupCommands(program: Command): void {
  const order = [...HEADING_OF.keys()];
  const place = (command: Command): number => order.indexOf(command.name());
  const commands = program.commands as Command[];
  commands.sort((first, second) => place(first) - place(second));
  for (const command of commands) command.helpGroup(HEADING_OF.get(command.name()) ?? "Others:");
  program.commandsGroup(HEADING_OF.get("help")!).helpCommand("help [command]", "print the help of a command");
  program.configureHelp({
    showGlobalOptions: true,
    subcommandTerm: (command) => `${command.name()} ${command.usage().replace("[options]", "").trim()}`,
  });
}
