/** Bytes to hide: from `start` at least to `end`, and on from there as long as the tail's bytes go on. */
export interface Hit {
  readonly start: number;
  readonly end: number;
  /** Kinds of bytes that belong to the token beyond `end`; 0: none; PEM_TAIL: until the key's last line. */
  readonly tail: number;
}

/** `more`: the bytes so far allow both; ask again when more have come. */
export type ShapeAnswer = Hit | "more" | null;

/** The bytes seen so far, of which `length` are valid; `isLast`: no more will come. */
export interface Seen {
  readonly bytes: Uint8Array;
  readonly length: number;
  readonly isLast: boolean;
}

/** A kind of token that is recognised by its form. `match` is called when one of the triggers ends at `at`. */
export interface Shape {
  /** Lower-case; found in any case. */
  readonly triggers: readonly string[];
  match(seen: Seen, at: number, trigger: string): ShapeAnswer;
}

export const PEM_TAIL = -1;
/** How far back a shape may look from its trigger. */
export const LOOK_BEHIND_BYTES = 16;
