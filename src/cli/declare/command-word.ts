const GLOBAL_VALUE_FLAGS: ReadonlySet<string> = new Set([
  "--output-dir",
  "--store",
  "--server",
  "--token",
  "--config",
]);

/** The first word that is no flag and no value of one; "" where there is none. */
export function commandWord(args: readonly string[]): string {
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at]!;
    if (GLOBAL_VALUE_FLAGS.has(word)) at += 1;
    else if (!word.startsWith("-")) return word;
  }
  return "";
}
