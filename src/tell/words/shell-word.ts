const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** A word as a shell must be given it. */
export function shellWord(text: string): string {
  return PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Turns `resume 3` into what must be typed. */
export type CommandText = (command: string) => string;
