import {
  AUTHORITY,
  BARE,
  BLANK,
  DIGIT,
  hasKind,
  IN_DOUBLE,
  IN_SINGLE,
  isKind,
  LOWER,
  runEnd,
  spells,
  UPPER,
} from "./bytes.js";
import type { Seen, Shape, ShapeAnswer } from "./shape.js";

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

export const authorizationShape: Shape = {
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

export function bearerShape(kinds: number): Shape {
  return {
    triggers: ["bearer "],
    match: (seen, at) => valueFrom(seen, at, { kinds, min: MIN_BEARER_BYTES, needs: [DIGIT] }),
  };
}

/** `scheme://user:password@host`: the last `@` of the authority ends the password. */
export const urlShape: Shape = {
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

export const assignmentShapes: readonly Shape[] = [
  assignment(SURE_NAMES, []),
  assignment(DOUBTFUL_NAMES, [DIGIT]),
];

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
