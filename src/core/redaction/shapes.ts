import {
  ALNUM,
  AUTHORITY,
  BARE,
  BASE64,
  BLANK,
  DIGIT,
  DOT,
  hasKind,
  IN_DOUBLE,
  IN_SINGLE,
  isKind,
  LOWER,
  runEnd,
  spells,
  UPPER,
  URL64,
} from "./bytes.js";

/** Bytes to hide: from `start` at least to `end`, and on from there as long as the tail's bytes go on. */
export interface Hit {
  readonly start: number;
  readonly end: number;
  /** Kinds of bytes that belong to the token beyond `end`; 0: none; PEM_TAIL: until the key's last line. */
  readonly tail: number;
}

/** `more`: the bytes so far allow both; ask again when more have come. */
type ShapeAnswer = Hit | "more" | null;

/** The bytes seen so far, of which `length` are valid; `isLast`: no more will come. */
export interface Seen {
  readonly bytes: Uint8Array;
  readonly length: number;
  readonly isLast: boolean;
}

/** A kind of token that is recognised by its form. `match` is called when one of the triggers ends at `at`. */
interface Shape {
  /** Lower-case; found in any case. */
  readonly triggers: readonly string[];
  match(seen: Seen, at: number, trigger: string): ShapeAnswer;
}

export const PEM_TAIL = -1;
/** How far back a shape may look from its trigger. */
export const LOOK_BEHIND_BYTES = 16;

/** Shapes in which a name says that a secret follows: only the value is hidden, the name stays. */

const MAX_BLANKS = 4;
const MAX_SCHEME_BYTES = 12;
const MAX_AUTHORITY_BYTES = 1_024;
const VALUE_WINDOW_BYTES = 32;
const MIN_VALUE_BYTES = 6;
const MIN_LOOSE_VALUE_BYTES = 8;
const MIN_HEADER_VALUE_BYTES = 4;
const MIN_BEARER_BYTES = 20;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const EQUALS = 0x3d;
const CLOSE_ANGLE = 0x3e;
const AT_SIGN = 0x40;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const OPEN_PARENTHESIS = 0x28;

/** Not a value but a sign for one: `$TOKEN`, `${TOKEN}`, `{{ token }}`, `<token>`, `***`, `%s`, or hidden already. */
const PLACEHOLDER_STARTS = new Set(Array.from("$<*%{[", (character) => character.charCodeAt(0)));
const SCHEMES = ["bearer", "basic", "token", "apikey", "digest", "negotiate"];

const authorizationShape: Shape = {
  triggers: ["authorization"],
  match(seen, at) {
    const separator = readSeparator(seen, at);
    if (separator === "more" || separator === null) return separator;
    const { valueAt } = separator;
    const word = runEnd(
      seen.bytes,
      valueAt,
      Math.min(seen.length, valueAt + MAX_SCHEME_BYTES),
      LOWER | UPPER,
    );
    if (word === seen.length && word - valueAt < MAX_SCHEME_BYTES && !seen.isLast) return "more";
    const isScheme = SCHEMES.some(
      (scheme) => word - valueAt === scheme.length && spells(seen.bytes, valueAt, scheme, true),
    );
    if (!isScheme || !isKind(seen.bytes[word], BLANK)) return null;
    return valueFrom(seen, skipBlanks(seen, word), { kinds: BARE, min: MIN_HEADER_VALUE_BYTES });
  },
};

function bearerShape(kinds: number): Shape {
  return {
    triggers: ["bearer "],
    match: (seen, at) => valueFrom(seen, at, { kinds, min: MIN_BEARER_BYTES, needs: [DIGIT] }),
  };
}

/** `scheme://user:password@host`: the last `@` of the authority ends the password. */
const urlShape: Shape = {
  triggers: ["://"],
  match(seen, at) {
    const limit = Math.min(seen.length, at + MAX_AUTHORITY_BYTES);
    const end = runEnd(seen.bytes, at, limit, AUTHORITY);
    if (end === seen.length && end - at < MAX_AUTHORITY_BYTES && !seen.isLast) return "more";
    const colon = seen.bytes.subarray(at, end).indexOf(COLON);
    const atSign = seen.bytes.subarray(at, end).lastIndexOf(AT_SIGN);
    if (colon === -1 || atSign <= colon + 1 || PLACEHOLDER_STARTS.has(seen.bytes[at + colon + 1]!))
      return null;
    return { start: at + colon + 1, end: at + atSign, tail: 0 };
  },
};

/** Names after which any value is taken for a secret, and those after which it must also look like one. */
const SURE_NAMES = [
  "password",
  "passwd",
  "passphrase",
  "client_secret",
  "api_key",
  "api-key",
  "apikey",
  "private_key",
  "secret_key",
  "secret_access_key",
  "secretaccesskey",
];
const DOUBTFUL_NAMES = ["token", "secret"];
/** Tokens that only say where to go on reading. */
const HARMLESS_TOKENS = [
  "page",
  "page_",
  "page-",
  "next",
  "next_",
  "continuation",
  "continuation_",
  "sync",
  "sync_",
];

const assignmentShapes: readonly Shape[] = [assignment(SURE_NAMES, []), assignment(DOUBTFUL_NAMES, [DIGIT])];

function assignment(names: readonly string[], needs: readonly number[]): Shape {
  return {
    triggers: names,
    match(seen, at, name) {
      if (
        name === "token" &&
        HARMLESS_TOKENS.some((word) => spells(seen.bytes, at - name.length - word.length, word, true))
      )
        return null;
      const separator = readSeparator(seen, at);
      if (separator === "more" || separator === null) return separator;
      const { valueAt, quote, isTight } = separator;
      if (quote === DOUBLE_QUOTE)
        return valueFrom(seen, valueAt, { kinds: IN_DOUBLE, min: MIN_VALUE_BYTES, needs });
      if (quote === SINGLE_QUOTE)
        return valueFrom(seen, valueAt, { kinds: IN_SINGLE, min: MIN_VALUE_BYTES, needs });
      if (isTight) return valueFrom(seen, valueAt, { kinds: BARE, min: MIN_VALUE_BYTES, needs });
      // Blanks without quotes: prose such as "token: unexpected" is more likely than a secret.
      return valueFrom(seen, valueAt, {
        kinds: BARE,
        min: MIN_LOOSE_VALUE_BYTES,
        needs: [DIGIT, LOWER | UPPER],
      });
    },
  };
}

interface Separator {
  readonly valueAt: number;
  readonly quote: number | null;
  /** `name=value`, nothing between. */
  readonly isTight: boolean;
}

/** What stands between a name and its value: `=`, `: `, `":"`, `\": \"`, ` => '` and the like. */
function readSeparator(seen: Seen, at: number): Separator | "more" | null {
  const nameEnd = skipQuote(seen, at);
  const signAt = skipBlanks(seen, nameEnd);
  if (signAt >= seen.length) return seen.isLast ? null : "more";
  const sign = seen.bytes[signAt]!;
  if (sign !== EQUALS && sign !== COLON) return null;
  const isDouble = seen.bytes[signAt + 1] === EQUALS || seen.bytes[signAt + 1] === CLOSE_ANGLE;
  const signEnd = signAt + (isDouble && signAt + 1 < seen.length ? 2 : 1);
  const blanksEnd = skipBlanks(seen, signEnd);
  const valueAt = skipQuote(seen, blanksEnd);
  if (valueAt >= seen.length) return seen.isLast ? null : "more";
  const quote = valueAt > blanksEnd ? seen.bytes[valueAt - 1]! : null;
  return { valueAt, quote, isTight: valueAt === at + 1 && sign === EQUALS };
}

/** Past a quote, which may be escaped, if there is one. */
function skipQuote(seen: Seen, at: number): number {
  const quoteAt = at < seen.length && seen.bytes[at] === BACKSLASH ? at + 1 : at;
  if (quoteAt >= seen.length) return quoteAt;
  const byte = seen.bytes[quoteAt];
  return byte === DOUBLE_QUOTE || byte === SINGLE_QUOTE ? quoteAt + 1 : at;
}

function skipBlanks(seen: Seen, at: number): number {
  return runEnd(seen.bytes, at, Math.min(seen.length, at + MAX_BLANKS), BLANK);
}

interface ValueLooks {
  readonly kinds: number;
  readonly min: number;
  /** Each of these kinds must occur near the start. */
  readonly needs?: readonly number[];
}

function valueFrom(seen: Seen, start: number, { kinds, min, needs = [] }: ValueLooks): ShapeAnswer {
  const first = seen.bytes[start];
  if (start >= seen.length) return seen.isLast ? null : "more";
  if (PLACEHOLDER_STARTS.has(first!)) return null;
  const end = runEnd(seen.bytes, start, Math.min(seen.length, start + VALUE_WINDOW_BYTES), kinds);
  if (end === seen.length && end - start < VALUE_WINDOW_BYTES && !seen.isLast) return "more";
  if (end - start < min || !needs.every((kind) => hasKind(seen.bytes, start, end, kind))) return null;
  if (seen.bytes[end] === OPEN_PARENTHESIS && end - start < VALUE_WINDOW_BYTES && kinds === BARE) return null;
  if (end - start === 9 && spells(seen.bytes, start, "undefined")) return null;
  return { start, end, tail: kinds };
}

const MAX_JWT_HEADER_BYTES = 4_096;
const MAX_PEM_LABEL_BYTES = 64;
const DIGIT_WINDOW_BYTES = 48;
const ESCAPE = 0x1b;

interface TokenLooks {
  readonly kinds: number;
  readonly min: number;
  /** The prefix is so short that it must stand at the start of a word. */
  readonly startsWord?: boolean;
  /** There must be a digit near the start, or it is likely a word. */
  readonly needsDigit?: boolean;
}

/** A fixed prefix (with regard to case), then at least `min` bytes of certain kinds. */
function prefixed(prefixes: readonly string[], looks: TokenLooks): Shape[] {
  return prefixes.map((prefix) => ({
    triggers: [prefix.toLowerCase()],
    match(seen, at) {
      const start = at - prefix.length;
      if (!spells(seen.bytes, start, prefix)) return null;
      if (looks.startsWord && !isWordStart(seen.bytes, start, ALNUM)) return null;
      const window = looks.needsDigit ? Math.max(looks.min, DIGIT_WINDOW_BYTES) : looks.min;
      const end = runEnd(seen.bytes, at, Math.min(seen.length, at + window), looks.kinds);
      const hasDigit = !looks.needsDigit || hasKind(seen.bytes, at, end, DIGIT);
      if (end - at >= looks.min && hasDigit) return { start, end, tail: looks.kinds };
      return end === seen.length && end - at < window && !seen.isLast ? "more" : null;
    },
  }));
}

/** Whether a word starts here: after no byte of a word, or after an escape such as `\n`, `%3D` or a colour code. */
function isWordStart(bytes: Uint8Array, start: number, wordKinds: number): boolean {
  const before = bytes[start - 1];
  if (!isKind(before, wordKinds)) return true;
  if (bytes[start - 2] === 0x5c && "nrt".includes(String.fromCharCode(before!))) return true;
  if (bytes[start - 3] === 0x25) return true;
  if (before !== 0x6d) return false;
  for (let at = start - 2; at > start - LOOK_BEHIND_BYTES; at--) if (bytes[at] === ESCAPE) return true;
  return false;
}

const jwtShape: Shape = {
  triggers: ["eyj"],
  match(seen, at) {
    const start = at - 3;
    if (!spells(seen.bytes, start, "eyJ") || !isWordStart(seen.bytes, start, ALNUM | URL64)) return null;
    const header = runEnd(seen.bytes, at, Math.min(seen.length, at + MAX_JWT_HEADER_BYTES), ALNUM | URL64);
    if (header - at === MAX_JWT_HEADER_BYTES) return null;
    if (header === seen.length) return seen.isLast ? null : "more";
    if (header - at < 10 || seen.bytes[header] !== 0x2e) return null;
    const payload = runEnd(seen.bytes, header + 1, Math.min(seen.length, header + 11), ALNUM | URL64);
    if (payload === header + 11) return { start, end: payload, tail: ALNUM | URL64 | DOT };
    return payload === seen.length && !seen.isLast ? "more" : null;
  },
};

const privateKeyShape: Shape = {
  triggers: ["-----begin "],
  match(seen, at, trigger) {
    const limit = Math.min(seen.length, at + MAX_PEM_LABEL_BYTES);
    for (let dash = at; dash < limit; dash++) {
      const byte = seen.bytes[dash]!;
      if (byte === 0x2d) {
        const isKey =
          spells(seen.bytes, dash - 11, "PRIVATE KEY") || spells(seen.bytes, dash - 17, "PRIVATE KEY BLOCK");
        return isKey ? { start: at - trigger.length, end: dash, tail: PEM_TAIL } : null;
      }
      if (!isKind(byte, UPPER | DIGIT) && byte !== 0x20) return null;
    }
    return limit === seen.length && !seen.isLast ? "more" : null;
  },
};

/** In the order of their numbers in the automaton. */
export const SHAPES: readonly Shape[] = [
  ...prefixed(["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], { kinds: ALNUM, min: 30 }),
  ...prefixed(["github_pat_"], { kinds: ALNUM | URL64, min: 30 }),
  ...prefixed(["glpat-", "glrt-", "gldt-"], { kinds: ALNUM | URL64 | DOT, min: 20 }),
  ...prefixed(["AKIA", "ASIA"], { kinds: UPPER | DIGIT, min: 16, startsWord: true }),
  ...prefixed(["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxc-", "xoxd-", "xapp-"], {
    kinds: ALNUM | URL64,
    min: 10,
  }),
  ...prefixed(["sk-"], { kinds: ALNUM | URL64, min: 20, startsWord: true, needsDigit: true }),
  ...prefixed(["sk_live_", "sk_test_", "rk_live_"], { kinds: ALNUM, min: 16 }),
  ...prefixed(["AIza"], { kinds: ALNUM | URL64, min: 35 }),
  ...prefixed(["npm_"], { kinds: ALNUM, min: 36 }),
  ...prefixed(["hf_"], { kinds: ALNUM, min: 30, startsWord: true }),
  ...prefixed(["pypi-AgE"], { kinds: ALNUM | URL64, min: 30 }),
  ...prefixed(["dop_v1_", "doo_v1_", "dor_v1_"], { kinds: ALNUM, min: 40 }),
  // Daruma's own.
  ...prefixed(["drm_"], { kinds: ALNUM | URL64, min: 40, startsWord: true }),
  jwtShape,
  privateKeyShape,
  authorizationShape,
  bearerShape(ALNUM | URL64 | BASE64 | DOT),
  urlShape,
  ...assignmentShapes,
];
