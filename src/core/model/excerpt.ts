import { firstChars } from "../text/head-tail.js";
import { plainText } from "../text/plain-text.js";
import { isAside, namesError, tellingLine } from "../text/telling-line.js";
import type { ErrorRecord } from "./failure.js";

/** One line that a step has printed. */
export interface ExcerptLine {
  readonly stream: "stdout" | "stderr";
  /** The index of the line among those that the record has of its stream. */
  readonly at: number;
  readonly text: string;
  /** The line looks like an error and does not only count errors. */
  readonly telling: boolean;
  /** The line was printed to another stream than the line that names what broke. */
  readonly beside: boolean;
}

/** The output of the attempt that failed, or of the failure that caused this one. */
interface Printed {
  readonly stdout_tail: string | null;
  readonly stderr_tail: string | null;
  readonly cause?: Pick<ErrorRecord, "code" | "stdout_tail" | "stderr_tail"> | null;
}
type Said = Pick<ErrorRecord, "message" | "how" | "said">;
type Told = Printed & Said & Pick<ErrorRecord, "code" | "step_id">;

type Line = Omit<ExcerptLine, "beside">;

const MAX_LINE_CHARS = 400;
/** The divisor of the room: this part of it is for lines that look like errors, the rest for the last lines. */
const TELLING_SHARE = 3;
/** How many lines are searched for one that says more than a given text. */
const MAX_LINES = 12;

/**
 * Chooses the lines that tell what broke, at most so many, in the order in which they were printed: the line that names it,
 * the last lines that look like errors, and the last lines. The stream that names what broke has the room for itself,
 * except for a third that errors on the other stream may take. What it leaves is filled from the other stream. Every
 * interface shows these lines, and says only how many it has room for.
 */
export function excerptOf(failure: Printed, lines: number): ExcerptLine[] {
  const { stdout_tail, stderr_tail } = failure.cause ?? failure;
  const [stdout, stderr] = [linesOf("stdout", stdout_tail ?? ""), linesOf("stderr", stderr_tail ?? "")];
  const named = namedIn(stderr, stdout);
  const isOnStdout = stderr.length === 0 || named?.stream === "stdout";
  const [main, other] = isOnStdout ? [stdout, stderr] : [stderr, stdout];
  const share = Math.floor(lines / TELLING_SHARE);
  const errors = share === 0 ? [] : other.filter(({ telling }) => telling).slice(-share);
  const room = Math.max(0, lines - main.length);
  const beside = errors.length < room ? choose(other, room, null) : errors;
  const chosen = new Set([...beside, ...choose(main, lines - beside.length, named)]);
  return [...stdout, ...stderr]
    .filter((line) => chosen.has(line))
    .map((line) => ({ ...line, beside: other.includes(line) }));
}

/** Says what broke in one line: the words of the step, or the message if the step said nothing. */
export function brokeOf({ message, said, step_id }: Told): string {
  const told = said ?? message;
  const own = `${step_id}: `;
  return told.startsWith(own) ? told.slice(own.length) : told;
}

/** Adds the code to that line, unless the line contains it or is only how the process ended. */
export function headlineOf(failure: Told): string {
  const broke = brokeOf(failure);
  const { code } = failure.cause ?? failure;
  return broke.includes(code) || broke === failure.how ? broke : `${broke} (${code})`;
}

/** Shortens a message above lines that repeat the words of the step. */
export function besideOf({ message, how, said }: Said, lines: readonly ExcerptLine[]): string {
  if (how == null || said == null || said === message) return message;
  const whole = said.endsWith("…") ? said.slice(0, -1) : said;
  return lines.some(({ text }) => folded(text).includes(whole)) ? how : message;
}

/** Finds the first line that looks like an error and says more than the text above it. */
export function lineBelow(failure: Printed, text: string): string | null {
  const whole = text.endsWith("…") ? text.slice(0, -1) : text;
  const says = (line: string): boolean => line.includes(whole) || whole.includes(line);
  const telling = excerptOf(failure, MAX_LINES).filter((line) => line.telling);
  const [line] = ["stderr", "stdout"].flatMap((stream) =>
    telling.filter((each) => each.stream === stream && !says(folded(each.text))),
  );
  return line === undefined ? null : folded(line.text);
}

/** Finds the last words of a step that has not said what broke. Null means that it has, or that the message contains them. */
export function lastWordsOf(failure: Told): ExcerptLine | null {
  if (failure.said != null) return null;
  const [line] = excerptOf(failure, 1);
  return line === undefined || folded(failure.message).includes(folded(line.text)) ? null : line;
}

function namedIn(stderr: readonly Line[], stdout: readonly Line[]): Line | null {
  const [errors, printed] = [stderr, stdout].map((lines) => lines.map(({ text }) => folded(text))) as [
    string[],
    string[],
  ];
  const named = tellingLine(errors, printed);
  if (named === null) return null;
  const at = errors.lastIndexOf(named);
  return (at === -1 ? stdout[printed.lastIndexOf(named)] : stderr[at]) ?? null;
}

function choose(lines: readonly Line[], most: number, named: Line | null): Line[] {
  if (lines.length <= most) return [...lines];
  const telling = lines.filter((line) => line.telling).slice(-Math.ceil(most / TELLING_SHARE));
  const last = [...lines].reverse();
  const wanted = [
    ...lines.filter((line) => line === named),
    ...telling.reverse(),
    ...last.filter(({ text }) => !isAside(folded(text))),
    ...last,
  ];
  return [...new Set(wanted)].slice(0, Math.max(0, most));
}

function linesOf(stream: Line["stream"], tail: string): Line[] {
  return tail.split("\n").flatMap((raw, at) => {
    // A terminal keeps only the last state of a line that was drawn again and again.
    const drawn = raw.replace(/\r+$/, "").split("\r").at(-1) ?? "";
    const line = plainText(drawn).replace(/\t/g, "    ").replace(/\s/g, " ").trimEnd();
    return line === "" ? [] : [{ stream, at, text: shortened(line), telling: namesError(folded(line)) }];
  });
}

function shortened(line: string): string {
  return line.length <= MAX_LINE_CHARS ? line : `${firstChars(line, MAX_LINE_CHARS)}…`;
}

function folded(line: string): string {
  return line.replace(/\s+/g, " ").trim();
}
