/** Kinds of bytes, as bits, so that a run of any mixture is one look-up a byte. */
export const DIGIT = 1;
export const UPPER = 2;
export const LOWER = 4;
/** `_` and `-`, which base64url adds to letters and digits. */
export const URL64 = 8;
/** `+`, `/` and `=`, which base64 adds. */
export const BASE64 = 16;
export const DOT = 32;
/** Blanks that may stand between a name and its value. */
export const BLANK = 64;
/** What may be part of a value without quotes. */
export const BARE = 128;
/** What may be part of a value in double or in single quotes. */
export const IN_DOUBLE = 256;
export const IN_SINGLE = 512;
/** What may be part of `user:password@host` in a URL. */
export const AUTHORITY = 1_024;

export const ALNUM = DIGIT | UPPER | LOWER;

const KINDS = new Uint16Array(256);

function mark(kind: number, characters: string): void {
  for (const character of characters) KINDS[character.charCodeAt(0)]! |= kind;
}

function markAllBut(kind: number, excluded: string): void {
  for (let byte = 0x21; byte < 0x100; byte++) {
    if (byte !== 0x7f && !excluded.includes(String.fromCharCode(byte))) KINDS[byte]! |= kind;
  }
}

mark(DIGIT, "0123456789");
mark(UPPER, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
mark(LOWER, "abcdefghijklmnopqrstuvwxyz");
mark(URL64, "_-");
mark(BASE64, "+/=");
mark(DOT, ".");
mark(BLANK, " \t");
markAllBut(BARE, "\"'`&;,()[]{}<>|\\");
markAllBut(IN_DOUBLE, '"');
markAllBut(IN_SINGLE, "'");
mark(IN_DOUBLE | IN_SINGLE, " \t");
markAllBut(AUTHORITY, "/?#\"'`<>\\");

export function isKind(byte: number | undefined, kinds: number): boolean {
  return byte !== undefined && (KINDS[byte]! & kinds) !== 0;
}

/** The end of the run of such bytes that starts at `from`, looking no further than `limit`. */
export function runEnd(bytes: Uint8Array, from: number, limit: number, kinds: number): number {
  let at = from;
  while (at < limit && (KINDS[bytes[at]!]! & kinds) !== 0) at++;
  return at;
}

export function hasKind(bytes: Uint8Array, from: number, to: number, kinds: number): boolean {
  for (let at = from; at < to; at++) if ((KINDS[bytes[at]!]! & kinds) !== 0) return true;
  return false;
}

/** Whether the bytes from `from` on spell `text` (ASCII), with regard to case or not. */
export function spells(bytes: Uint8Array, from: number, text: string, ignoreCase = false): boolean {
  for (let index = 0; index < text.length; index++) {
    const byte = bytes[from + index];
    if (byte === undefined) return false;
    const expected = text.charCodeAt(index);
    if (byte !== expected && !(ignoreCase && isKind(byte, UPPER) && byte + 0x20 === expected)) return false;
  }
  return true;
}

export const NEWLINE = 0x0a;
export const RETURN = 0x0d;
export const BACKSLASH = 0x5c;

/** A line break, the start of one that is written as `\n`, or of a line that goes on after a backslash. */
export const BREAKS: readonly number[] = [NEWLINE, RETURN, BACKSLASH];

export function isBreak(byte: number): boolean {
  return byte === NEWLINE || byte === RETURN || byte === BACKSLASH;
}
