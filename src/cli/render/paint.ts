import { plainText } from "../../core/text/plain-text.js";

export type Colour = "red" | "green" | "yellow" | "cyan" | "dim" | "bold";

const CODES: Readonly<Record<Colour, readonly [open: number, close: number]>> = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  dim: [2, 22],
  bold: [1, 22],
};

const ESCAPE = String.fromCharCode(0x1b);
const OWN_CODES = [...new Set(Object.values(CODES).flat())].join("|");
const OWN_COLOURS = new RegExp(`(${ESCAPE}\\[(?:${OWN_CODES})m)`);

/** Matches nearly every line, and is cheap to check. */
const HARMLESS = /^[\t -~]*$/;

/**
 * Makes a text safe for a terminal: a single line, whatever a step, a file or a server put into it, with no colours but
 * our own.
 */
export function shownLine(line: string): string {
  if (HARMLESS.test(line)) return line;
  return line
    .split(OWN_COLOURS)
    .map((piece, index) => (index % 2 === 1 ? piece : plainText(piece).replaceAll("\n", " ")))
    .join("");
}

/** Colours a text, or leaves it unchanged if the output shows no colours. */
export type Paint = (colour: Colour, text: string) => string;

export const plainPaint: Paint = (_colour, text) => text;

export const ansiPaint: Paint = (colour, text) => {
  const [open, close] = CODES[colour];
  return `\x1b[${open}m${text}\x1b[${close}m`;
};
