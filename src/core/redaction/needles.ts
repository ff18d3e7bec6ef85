/** A value that must never be shown, and the name that stands in its place. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** One spelling of a secret, as UTF-8. `secret` is its place in the list. */
export interface Needle {
  readonly bytes: Uint8Array;
  readonly secret: number;
}

/** Shorter values would blot out ordinary text. */
export const MIN_SECRET_CHARS = 4;
/** A line of a multi-line value is hidden by itself from this length on. */
const MIN_LINE_CHARS = 8;
/** Longer spellings are hidden piece by piece, so that a stream never holds back more than this. */
export const MAX_NEEDLE_BYTES = 4_096;

const utf8 = new TextEncoder();
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const JSON_SHORT_ESCAPES = new Set(["\b", "\f", "\n", "\r", "\t", '"', "\\"]);

/** The secrets that are too short to be hidden. An empty value hides nothing and is not among them. */
export function unredactable(secrets: readonly Secret[]): Secret[] {
  return secrets.filter(({ value }) => value !== "" && value.trim().length < MIN_SECRET_CHARS);
}

/** Every spelling of every secret, without repeats. The search that uses them pays no heed to ASCII case. */
export function spellSecrets(secrets: readonly Secret[]): Needle[] {
  const needles = new Map<string, Needle>();
  secrets.forEach(({ value }, secret) => {
    for (const part of partsOf(value)) {
      const spellings = Array.from(spell(part), (text) => utf8.encode(text));
      // For a value of many lines only the usual spellings are searched, because more would be slow.
      const rarer = isOneLine(value) ? spellWide(part) : [];
      const cut = isOneLine(value) ? [...spellings, ...rarer].flatMap(withoutStart) : [];
      for (const bytes of [...spellings, ...rarer].flatMap(pieces).concat(cut)) {
        const key = foldedKey(bytes);
        if (!needles.has(key)) needles.set(key, { bytes, secret });
      }
    }
  });
  return [...needles.values()];
}

function isOneLine(value: string): boolean {
  return !/[\r\n]/.test(value.trim());
}

/** A program may put letters and their accents together, or take them apart. */
function partsOf(value: string): Set<string> {
  const composed = [value, value.normalize("NFC"), value.normalize("NFD")];
  return new Set([...new Set(composed)].flatMap(linesOf));
}

/** The whole value, and those of its lines that are long enough to differ from ordinary text. */
function linesOf(value: string): string[] {
  const whole = value.trim();
  if (whole.length < MIN_SECRET_CHARS) return [];
  const lines = whole.split(/\r\n|\r|\n/);
  if (lines.length === 1) return [whole];
  return [whole, ...lines.map((line) => line.trim()).filter((line) => line.length >= MIN_LINE_CHARS)];
}

function spell(text: string): Set<string> {
  const spellings = new Set([text, ...spellInJson(text), ...spellInShell(text), ...spellInMarkup(text)]);
  // A program may change the case before it encodes; the encoded forms of that share nothing with the original's.
  for (const cased of new Set([text, text.toLowerCase(), text.toUpperCase()])) {
    const bytes = utf8.encode(cased);
    spellings.add(cased);
    spellings.add(hex(bytes, ""));
    spellings.add(hex(bytes, "%"));
    spellings.add(hex(bytes, "\\x"));
    const encoded = spellInBase64(bytes);
    for (const spelling of [...spellInUrl(bytes), ...encoded, ...encoded.flatMap(fragments)])
      spellings.add(spelling);
  }
  return spellings;
}

/** What is printed as UTF-16 is rarely long, and each of its characters costs ten. */
const MAX_WIDE_CHARS = 512;

/** UTF-16 of either order, and base64 of what PowerShell encodes. */
function spellWide(text: string): Uint8Array[] {
  if (text.length > MAX_WIDE_CHARS) return [];
  const low = utf16(text, (unit) => [unit & 0xff, unit >> 8]);
  const high = utf16(text, (unit) => [unit >> 8, unit & 0xff]);
  return [low, high, ...spellInBase64(low).map((spelling) => utf8.encode(spelling))];
}

function utf16(text: string, bytesOf: (unit: number) => readonly number[]): Uint8Array {
  return Uint8Array.from(text.split("").flatMap((unit) => bytesOf(unit.charCodeAt(0))));
}

function spellInJson(text: string): string[] {
  const plain = JSON.stringify(text).slice(1, -1);
  const ascii = escapeUnits(plain, (unit) => unit > "\u007e");
  return [
    plain,
    plain.replaceAll("/", "\\/"),
    ascii,
    escapeUnits(plain, (unit) => unit > "\u007e" || "<>&'".includes(unit)),
    escapeUnits(plain, (unit) => "<>&".includes(unit)),
    // JSON inside JSON.
    JSON.stringify(plain).slice(1, -1),
    JSON.stringify(ascii).slice(1, -1),
  ];
}

function escapeUnits(text: string, isEscaped: (unit: string) => boolean): string {
  return text
    .split("")
    .map((unit) => (isEscaped(unit) ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}` : unit))
    .join("");
}

function spellInShell(text: string): string[] {
  const dollarQuoted = text
    .split("")
    .map((unit) => (JSON_SHORT_ESCAPES.has(unit) && unit !== '"' ? JSON.stringify(unit).slice(1, -1) : unit))
    .join("")
    .replaceAll("'", "\\'");
  return [
    text.replaceAll("'", "'\\''"),
    text.replaceAll("'", `'"'"'`),
    text.replace(/[\\"$`]/g, "\\$&"),
    text.replace(/[\\"$`!]/g, "\\$&"),
    text.replace(/[^\w@%+=:,./\-\u0080-\uffff]/g, "\\$&"),
    text.replace(/[^\w@%+=:./\-\u0080-\uffff]/g, "\\$&"),
    text.replace(/[^\w./\-\u0080-\uffff]/g, "\\$&"),
    dollarQuoted,
  ];
}

function spellInMarkup(text: string): string[] {
  const named = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return [
    named,
    named.replaceAll('"', "&quot;"),
    ...["&#39;", "&#x27;", "&apos;"].map((quote) => named.replaceAll('"', "&quot;").replaceAll("'", quote)),
  ];
}

const UNRESERVED = /[\w.~-]/;
const URL_SAFE_SETS = [
  UNRESERVED,
  /[\w.!~*'()-]/, // encodeURIComponent
  /[\w.!~*'();/?:@&=+$,#-]/, // encodeURI
  /[\w.*-]/, // forms
  /[\w.~/-]/, // paths
];

function spellInUrl(bytes: Uint8Array): string[] {
  return URL_SAFE_SETS.flatMap((safe) => {
    const encoded = Array.from(bytes, (byte) => {
      const character = String.fromCharCode(byte);
      return byte < 0x80 && safe.test(character) ? character : `%${byte.toString(16).padStart(2, "0")}`;
    }).join("");
    return [encoded, encoded.replaceAll("%20", "+")];
  });
}

function hex(bytes: Uint8Array, prefix: string): string {
  return Array.from(bytes, (byte) => prefix + byte.toString(16).padStart(2, "0")).join("");
}

/**
 * The characters of base64 that the bytes alone decide, for each of the three places at which they can stand in a
 * longer text; those at the edges that neighbours share are left out.
 */
function spellInBase64(bytes: Uint8Array): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const shifted = new Uint8Array(offset + bytes.length);
    shifted.set(bytes, offset);
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor((shifted.length * 8) / 6);
    let core = "";
    for (let place = first; place < last; place++) core += BASE64[sextet(shifted, place)];
    return [core, core.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

/** Programs break base64 into lines, at 60 characters or later. */
const MIN_WRAPPED_CHARS = 60;
const FRAGMENT_CHARS = 16;
const FRAGMENT_STEP = 4;

/** Pieces of a long encoding, close enough that every line of it is made of them but for a few characters. */
function fragments(core: string): string[] {
  if (core.length < MIN_WRAPPED_CHARS) return [];
  const found: string[] = [];
  for (let at = 0; at + FRAGMENT_CHARS <= core.length; at += FRAGMENT_STEP)
    found.push(core.slice(at, at + FRAGMENT_CHARS));
  return found;
}

function sextet(bytes: Uint8Array, place: number): number {
  const bit = place * 6;
  const index = bit >> 3;
  const pair = ((bytes[index] ?? 0) << 8) | (bytes[index + 1] ?? 0);
  return (pair >> (10 - (bit & 7))) & 63;
}

/** The start that may stand before a line break without being followed over it; see `redaction-automaton.ts`. */
const UNFOLLOWED_BYTES = 2;
const MIN_WITHOUT_START_BYTES = 16;
const MAX_WITHOUT_START_BYTES = 512;

function withoutStart(bytes: Uint8Array): Uint8Array[] {
  const isLongEnough = bytes.length >= MIN_WITHOUT_START_BYTES && bytes.length <= MAX_WITHOUT_START_BYTES;
  return isLongEnough ? [bytes.subarray(UNFOLLOWED_BYTES)] : [];
}

function pieces(bytes: Uint8Array): Uint8Array[] {
  if (bytes.length <= MAX_NEEDLE_BYTES) return [bytes];
  const count = Math.ceil(bytes.length / MAX_NEEDLE_BYTES);
  const size = Math.ceil(bytes.length / count);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}

function foldedKey(bytes: Uint8Array): string {
  let key = "";
  for (const byte of bytes) key += String.fromCharCode(byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte);
  return key;
}
