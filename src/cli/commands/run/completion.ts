import type { Command } from "commander";
import { COMPLETIONS, type Shell, wordTrees } from "../../completion/scripts.js";
import type { Session } from "../../terminal/channel.js";

/** Prints a completion script for the shell, with the commands and flags of this version. */
export function completion(shell: Shell, program: Command, { out }: Session): number {
  out.write(COMPLETIONS[shell](wordTrees(program)));
  return 0;
}
