import type { Command } from "commander";
import { expect, it } from "vitest";
import { createProgram } from "../../src/cli/declare/program.js";
import { expectAsRecorded } from "./golden.js";

/** What `--help` of a command and of all below it prints, on a terminal of 80 columns. */
function helpOf(command: Command, words: string): string[] {
  let text = "";
  const writeOut = (piece: string): void => {
    text += piece;
  };
  command.configureOutput({ writeOut, getOutHelpWidth: () => 80 }).outputHelp();
  const below = command.commands.flatMap((each) => helpOf(each, `${words} ${each.name()}`));
  return [`$ ${words} --help\n${text}`, ...below];
}

it("the help of every command is as recorded", async () => {
  const texts = helpOf(await createProgram({ exitCode: 0 }, []), "daruma");
  expect(texts.length).toBeGreaterThan(100);
  expectAsRecorded("help.txt", texts.join("\n"));
});
