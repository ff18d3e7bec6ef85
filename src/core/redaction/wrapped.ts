import type { Automaton } from "./automaton.js";
import { BACKSLASH, isBreak } from "./bytes.js";

/** What a needle that a program has broken into lines hides, by its places in the current buffer. */
export interface WrappedSpan {
  readonly start: number;
  readonly end: number;
  readonly secret: number;
}

/** Two halves of a shorter one would be found in ordinary text. */
const MIN_WRAPPED_NEEDLE_BYTES = 8;
/** Line break and indentation. */
const MAX_BREAK_BYTES = 64;
/** All of a broken needle with its breaks; so much may be held back for it. */
const MAX_WRAPPED_BYTES = 8_192;
/** A text of a few repeated characters could begin one with every line; then the search would go over it again and again. */
export const MAX_FOLLOWED = 8;

const BLANK = 0x20;
const TAB = 0x09;
const LETTER_N = 0x6e;
const LETTER_R = 0x72;

/**
 * A needle that had begun when the line broke, followed over the break by the same automaton as if the break were not
 * there. Until it is found or broken off, the text from its start on is not given out.
 */
export class WrappedNeedle {
  /** The position where it ended; null while it continues. */
  diedAt: number | null = null;
  private state: number;
  /** Bytes of the needle since the first break. */
  private taken = 0;
  private skipped = 0;
  private afterBackslash = false;
  private next: number;

  /** `state` is that of the bytes before the break, which is the byte at `breakAt`. */
  constructor(
    private readonly automaton: Automaton,
    state: number,
    private breakAt: number,
  ) {
    this.state = state;
    this.next = breakAt;
  }

  get start(): number {
    return this.breakAt - (this.automaton.depth[this.state]! - this.taken);
  }

  /** Goes on to the end of what is there. */
  extend(bytes: Uint8Array, length: number, found: (span: WrappedSpan) => void): void {
    for (; this.next < length && this.diedAt === null; this.next++) {
      const byte = bytes[this.next]!;
      if (this.isOfBreak(byte)) {
        if (++this.skipped > MAX_BREAK_BYTES) this.diedAt = this.next;
      } else this.take(byte, found);
      if (this.next - this.start > MAX_WRAPPED_BYTES) this.diedAt = this.next;
    }
  }

  move(by: number): void {
    this.breakAt -= by;
    this.next -= by;
    if (this.diedAt !== null) this.diedAt -= by;
  }

  private isOfBreak(byte: number): boolean {
    const isEscaped = this.afterBackslash && (byte === LETTER_N || byte === LETTER_R);
    this.afterBackslash = byte === BACKSLASH;
    if (isEscaped || isBreak(byte)) return true;
    return this.skipped > 0 && (byte === BLANK || byte === TAB);
  }

  private take(byte: number, found: (span: WrappedSpan) => void): void {
    const { automaton } = this;
    this.skipped = 0;
    this.taken++;
    this.state = automaton.step(this.state, byte);
    // It must reach back to before the break; what does not is found where it begins.
    if (automaton.depth[this.state]! <= this.taken) {
      this.diedAt = this.next;
      return;
    }
    const length = automaton.needleLength[this.state]!;
    if (length > this.taken && length >= MIN_WRAPPED_NEEDLE_BYTES)
      found({
        start: this.breakAt - (length - this.taken),
        end: this.next + 1,
        secret: automaton.needleSecret[this.state]!,
      });
  }
}
