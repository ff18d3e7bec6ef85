import { firstChars } from "./head-tail.js";

const ESCAPE = String.fromCharCode(0x1b);
const BELL = String.fromCharCode(0x07);
/** The one-character forms of ESC [ and of ESC ] P X ^ _, and of the ESC \ that ends the latter. */
const CONTROL_SEQUENCE = String.fromCharCode(0x9b);
const CONTROL_STRINGS = String.fromCharCode(0x9d, 0x90, 0x98, 0x9e, 0x9f);
const STRING_END = String.fromCharCode(0x9c);

/** Colours and cursor moves; titles, links and other strings with their end; the two-character rest. */
const ANSI = new RegExp(
  [
    `(?:${ESCAPE}\\[|${CONTROL_SEQUENCE})[0-?]*[ -/]*[@-~]`,
    `(?:${ESCAPE}[\\]PX^_]|[${CONTROL_STRINGS}])[^${BELL}${ESCAPE}${STRING_END}\\n]*(?:${BELL}|${ESCAPE}\\\\|${STRING_END})?`,
    `${ESCAPE}[ -/]*[0-~]?`,
  ].join("|"),
  "g",
);
/** They turn the order of what stands around them, so that a line reads otherwise than it is. */
const BIDI_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const CONTROLS_BUT_BREAKS = /(?![\t\n])\p{Cc}/gu;
const LINE_BREAKS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
const BLANKS = /\s+/g;
/** Nearly every text, seen at a glance. */
const HARMLESS = /^[\t\n -~]*$/;

/** Without escape sequences, each removed whole. */
export function stripAnsi(text: string): string {
  return text.replace(ANSI, "");
}

/** A text as a terminal may show it: no escape sequences, control characters or marks that turn its order. Lines stay. */
export function plainText(text: string): string {
  if (HARMLESS.test(text)) return text;
  return stripAnsi(text).replace(BIDI_MARKS, "").replace(LINE_BREAKS, "\n").replace(CONTROLS_BUT_BREAKS, "");
}

/** The text on one line, with blanks folded, and an ellipsis if something was cut. */
export function oneLine(text: string, maxChars = Number.POSITIVE_INFINITY): string {
  const line = plainText(text).replace(BLANKS, " ").trim();
  return line.length > maxChars ? `${firstChars(line, maxChars)}…` : line;
}

/** The lines of a terminal's output without colours, blanks folded, empty ones left out. */
export function plainLines(text: string): string[] {
  return stripAnsi(text)
    .split(/[\r\n]+/)
    .map((line) => line.replace(BLANKS, " ").trim())
    .filter((line) => line !== "");
}
