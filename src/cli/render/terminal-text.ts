import { StringDecoder } from "node:string_decoder";
import { plainText } from "../../core/text/plain-text.js";

const ESCAPE = String.fromCharCode(0x1b);
const COLOURS = new RegExp(`(${ESCAPE}\\[[0-9;:]*m)`);
/** The beginning of an unfinished escape sequence: colours and moves, strings such as titles, the rest. */
const UNFINISHED = new RegExp(
  [
    `(?:${ESCAPE}\\[|\u009b)[0-?]*[ -/]*$`,
    `(?:${ESCAPE}[\\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007${ESCAPE}\u009c\\n]*(?:${ESCAPE})?$`,
    `${ESCAPE}[ -/]*$`,
    "\\r$",
  ].join("|"),
);
/** A longer unfinished sequence is treated as ordinary text. */
const MAX_HELD_CHARS = 4_096;

/**
 * Makes output of a step or file safe for a terminal. Colours stay; titles, links, cursor moves, other control
 * characters and marks that reorder a line are removed. The text may come in pieces.
 */
export class TerminalText {
  private readonly decoder = new StringDecoder("utf8");
  private held = "";

  write(bytes: Uint8Array): string {
    const text = this.held + this.decoder.write(Buffer.from(bytes));
    const at = UNFINISHED.exec(text.slice(-MAX_HELD_CHARS))?.index ?? null;
    const end = at === null ? text.length : Math.max(0, text.length - MAX_HELD_CHARS) + at;
    this.held = text.slice(end);
    return terminalText(text.slice(0, end));
  }
}

export function terminalText(text: string): string {
  return text
    .split(COLOURS)
    .map((piece, index) => (index % 2 === 1 ? piece : plainText(piece)))
    .join("");
}
