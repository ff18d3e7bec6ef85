const COUNTED = new Set(
  (
    "a an and assertions at cancelled done duration error errors examples exited fail failed failing failure failures file " +
    "files found in is items m min ms of ok out pass passed passing pending problem problems ran run s sec seconds " +
    "skipped specs suite suites test tests time todo total was were warning warnings with xfailed xpassed ℹ"
  ).split(" "),
);

/** Whether a line of a program only counts what failed, as at the end of tests: it names nothing that broke. */
export function isTally(line: string): boolean {
  const words = line.toLowerCase().match(/\p{L}+/gu) ?? [];
  return /\d/.test(line) && words.every((word) => COUNTED.has(word));
}
