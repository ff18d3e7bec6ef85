import type { Command } from "commander";

/** The words of one command, for completion. */
export interface WordTree {
  /** The command's words, such as `token create`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly CompletedWord[];
  readonly flags: readonly CompletedWord[];
}

export interface CompletedWord {
  readonly word: string;
  readonly summary: string;
}

/** The words of a program and all its commands, the outermost first. Every command also has the general flags. */
export function wordTrees(program: Command): WordTree[] {
  const general = flagsOf(program);
  const visit = (command: Command, path: string): WordTree[] => [
    {
      path,
      commands: command.commands.map((each) => ({
        word: each.name(),
        summary: firstLine(each.description()),
      })),
      flags: path === "" ? general : unique([...flagsOf(command), ...general]),
    },
    ...command.commands.flatMap((each) => visit(each, path === "" ? each.name() : `${path} ${each.name()}`)),
  ];
  return visit(program, "");
}

function flagsOf(command: Command): CompletedWord[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description }) =>
      long == null ? [] : [{ word: long, summary: firstLine(description) }],
    );
}

function unique(words: readonly CompletedWord[]): CompletedWord[] {
  return [...new Map(words.map((each) => [each.word, each])).values()];
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]!;
}
