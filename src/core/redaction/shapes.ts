import { ALNUM, BASE64, DIGIT, DOT, hasKind, isKind, runEnd, spells, UPPER, URL64 } from "./bytes.js";
import { assignmentShapes, authorizationShape, bearerShape, urlShape } from "./named-shapes.js";
import { LOOK_BEHIND_BYTES, PEM_TAIL, type Shape } from "./shape.js";

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
