import type { GlobalOptions } from "./channel.js";

export const DEFAULT_OUTPUT_DIR = ".daruma";

const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** Turns `explain 3` into what must be typed, with the output folder where it is not the default. */
export type CommandLine = (command: string) => string;

/** What to type to get on, as the reader of a message would have to type it here. */
export function commandLine(options: Pick<GlobalOptions, "outputDir">, command: string): string {
  const { outputDir } = options;
  return outputDir === DEFAULT_OUTPUT_DIR
    ? `daruma ${command}`
    : `daruma ${command} --output-dir ${shellWord(outputDir)}`;
}

export function shellWord(text: string): string {
  return PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
