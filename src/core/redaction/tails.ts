import { ALNUM, BASE64, isKind, runEnd } from "./bytes.js";
import { PEM_TAIL } from "./shape.js";

/**
 * The part of a token beyond what was needed to recognise it. It may be of any length, so it is followed from chunk to
 * chunk and nothing of it is kept.
 */
export interface Tail {
  /** The end of the tail's bytes from `from` on; `length` if it may go on in the next chunk. */
  extend(bytes: Uint8Array, from: number, length: number): number;
}

export function openTail(kinds: number): Tail {
  if (kinds === PEM_TAIL) return new PrivateKeyTail();
  return { extend: (bytes, from, length) => runEnd(bytes, from, length, kinds) };
}

/** A line of a key has at least this many characters of base64 in a row, save the last. */
const MIN_KEY_LINE_BYTES = 16;
/** After this much text without a line of the key, the text only mentioned a key. Line prefixes in logs are shorter. */
const MAX_BETWEEN_KEY_LINES_BYTES = 256;
const END_MARK = "-----END ";
const DASHES = 5;
const DASH = 0x2d;
const NEWLINE = 0x0a;

/** Follows a private key to its END line, through whatever a log writes before each of its lines. */
class PrivateKeyTail implements Tail {
  private sinceKeyLine = 0;
  private lineRun = 0;
  private marked = 0;
  private phase: "begin" | "body" | "end" | "over" = "begin";
  private dashes = 0;

  extend(bytes: Uint8Array, from: number, length: number): number {
    for (let at = from; at < length; at++) {
      if (this.phase === "over" || this.isBeyond(bytes[at]!)) return at;
      this.follow(bytes[at]!);
    }
    return length;
  }

  /** A code point is never cut: the text around it would no longer be UTF-8. */
  private isBeyond(byte: number): boolean {
    return this.sinceKeyLine > MAX_BETWEEN_KEY_LINES_BYTES && (byte & 0xc0) !== 0x80;
  }

  private follow(byte: number): void {
    this.dashes = byte === DASH ? this.dashes + 1 : 0;
    this.lineRun = isKind(byte, ALNUM | BASE64) ? this.lineRun + 1 : 0;
    this.sinceKeyLine = this.lineRun >= MIN_KEY_LINE_BYTES ? 0 : this.sinceKeyLine + 1;
    if (this.phase === "begin" && this.dashes === DASHES) this.phase = "body";
    else if (this.phase === "body") this.seekEndMark(byte);
    else if (this.phase === "end" && (this.dashes === DASHES || byte === NEWLINE)) this.phase = "over";
  }

  private seekEndMark(byte: number): void {
    const expected = END_MARK.charCodeAt(this.marked);
    if (byte === expected) this.marked++;
    else if (byte !== DASH) this.marked = 0;
    else this.marked = this.marked === DASHES ? DASHES : 1;
    if (this.marked < END_MARK.length) return;
    this.phase = "end";
    this.marked = 0;
  }
}
