import { looksLikeError } from "./error-lines.js";
import { isTally } from "./tally-line.js";

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
