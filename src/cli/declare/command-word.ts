const GLOBAL_VALUE_FLAGS: ReadonlySet<string> = new Set([
  "--output-dir",
  "--store",
  "--server",
  "--token",
  "--config",
]);

/** The words that are neither flags nor values of general flags. */
export function plainWords(args: readonly string[]): string[] {
  const words: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at]!;
    if (GLOBAL_VALUE_FLAGS.has(word)) at += 1;
    else if (!word.startsWith("-")) words.push(word);
  }
  return words;
}

/** The first plain word; "" if there is none. */
export function commandWord(args: readonly string[]): string {
  return plainWords(args)[0] ?? "";
}
