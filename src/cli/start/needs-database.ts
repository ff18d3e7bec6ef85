import { commandWord } from "../declare/command-word.js";

type Environment = { readonly [name: string]: string | undefined };

const RUNNING_WORDS = new Set(["run", "resume"]);

/** Whether a command will certainly open a SQLite database, judged by its words without loading the whole program. */
export function needsDatabase(args: readonly string[], env: Environment): boolean {
  if (!RUNNING_WORDS.has(commandWord(args)) || env.DARUMA_STORE || env.DARUMA_SERVER) return false;
  return !args.some((word) => /^(-h$|--help$|--(store|server)(=|$))/.test(word));
}
