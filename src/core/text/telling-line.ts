const LOOKS_LIKE_ERROR =
  /\b(?:\w*error|\w*exception|fatal|panic(?:ked)?|fail(?:ed|ure|s)?|cannot|can't|could not|unable to|denied|refused|not found|no such file|undefined|traceback|assert\w*|abort(?:ed)?|segmentation fault|killed)\b|\u2717|\u2716/i;
const SAYS_NO_ERROR =
  /\b(?:0|no|without) (?:\w+ )?(?:error|failure|fail)s?\b|\b(?:error|failure|failed|fail)s?\s?[:=] ?0\b|\b0 failed\b/i;

/** Whether a person who looks for what went wrong would stop at this line of a log. It has no escape sequences. */
export function looksLikeError(line: string): boolean {
  return LOOKS_LIKE_ERROR.test(line) && !SAYS_NO_ERROR.test(line);
}

/**
 * Finds every place that a line like that has in it, and some more, in a text whose characters are bytes of UTF-8. Ten
 * times as fast as the rule itself, which then looks at those lines alone.
 */
export const ERROR_HINTS =
  /error|exception|fatal|panic|fail|cannot|can't|could not|unable to|denied|refused|not found|no such file|undefined|traceback|assert|abort|segmentation fault|killed|\xe2\x9c[\x96\x97]/gi;

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

const LETTER = /\p{L}/u;
/** What programs print after the line that says what broke, or beside it whatever happens. */
const ASIDES: readonly RegExp[] = [
  // The frames of a stack, in JavaScript, Java and Ruby.
  /^at (?:.*\(.*\)|\S+:\d+:\d+|async .*)(?: in .*)?(?: \{)?$|^from \S+:\d+:in /,
  /^Node\.js v\d/,
  /^npm (?:warn|notice|info|http)\b/i,
  /^npm (?:error|ERR!)(?:$| (?:code|errno|syscall|path|command|location|workspace|Lifecycle|Test failed|A complete log)\b)/i,
  /^\(node:\d+\) |^\(Use `node --trace/,
  /^(?:g?make|ninja)(?:\[\d+\])?: (?:\*\*\* \[|Leaving directory)/,
  /^exit status \d+$|^error Command failed with exit code \d+|ELIFECYCLE/,
  /^note: /,
  // A line of a transcript.
  /^\{.*\}$/,
];
const SAID_BY_NPM = /^npm (?:error|ERR!) /i;

/** The line by which a person would name a failure, of what a program has printed; null: none of them tells. */
export function tellingLine(stderr: readonly string[], stdout: readonly string[]): string | null {
  const last = stderr.at(-1);
  if (last !== undefined && tells(last)) return last;
  const [errors, printed] = [stderr, stdout].map((lines) => lines.filter((line) => !isAside(line)));
  return (
    errors!.find((line) => SAID_BY_NPM.test(line)) ??
    errors!.findLast(namesError) ??
    errors!.findLast(tells) ??
    printed!.findLast(namesError) ??
    errors!.at(-1) ??
    printed!.findLast(looksLikeError) ??
    null
  );
}

function tells(line: string): boolean {
  return !isAside(line) && !isTally(line);
}

/** Tells whether a line looks like an error and does not only count errors. */
export function namesError(line: string): boolean {
  return looksLikeError(line) && tells(line);
}

/** Tells whether a line only follows what broke, or is printed whatever happens. */
export function isAside(line: string): boolean {
  return !LETTER.test(line) || ASIDES.some((aside) => aside.test(line));
}
