import { StringDecoder } from "node:string_decoder";
import { plainText } from "../../core/text/plain-text.js";

const ESCAPE = String.fromCharCode(0x1b);
const COLOURS = new RegExp(`(${ESCAPE}\\[[0-9;:]*m)`);
/** What begins an escape sequence, and is not ended yet: colours and moves, strings such as titles, the rest. */
const UNFINISHED = new RegExp(
  [
    `(?:${ESCAPE}\\[|\u009b)[0-?]*[ -/]*$`,
    `(?:${ESCAPE}[\\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007${ESCAPE}\u009c\\n]*(?:${ESCAPE})?$`,
    `${ESCAPE}[ -/]*$`,
    "\\r$",
  ].join("|"),
);
/** A sequence that is still not ended after so much is none. */
const MAX_HELD_CHARS = 4_096;

/**
 * What a step or a file brought, for a terminal: its colours stay; titles, links, cursor moves, other control characters
 * and marks that turn the order of a line do not. It may come in pieces.
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
