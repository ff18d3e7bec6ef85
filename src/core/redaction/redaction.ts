// Written by hand: secrets must be found across the borders of chunks, in every spelling and in one pass, which no
// package does.
import type { Json } from "../text/json.js";
import { plainText } from "../text/plain-text.js";
import { buildAutomaton, type Trigger } from "./automaton.js";
import { type Secret, spellSecrets, unredactable } from "./needles.js";
import { RedactionScanner, SHAPE_LABEL } from "./scanner.js";
import { SHAPES } from "./shapes.js";

export { type Secret, unredactable };

/** Hides secrets and well-known tokens. Made once for a run; every stream of it is independent. */
export interface Redactor {
  redact(text: string): string;
  /** Redacts bytes of any encoding. Bytes without anything to hide are returned unchanged. */
  redactBytes(bytes: Uint8Array): Uint8Array;
  /**
   * Strings, keys, and numbers that are a secret, at any depth. What holds nothing to hide is returned as it is.
   * `ownRecord`: its numbers are our own, such as an exit code, and stay; its texts are shown without what a terminal
   * would obey, and hold nothing to hide then either.
   */
  redactJson(json: Json, ownRecord?: "ownRecord"): Json;
  stream(): RedactionStream;
}

/** Bytes in, bytes out, of any encoding. The result may share memory with the chunk. */
export interface RedactionStream {
  write(chunk: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

const TRIGGERS: readonly Trigger[] = SHAPES.flatMap(({ triggers }, shape) =>
  triggers.map((text) => ({ text, shape })),
);
/** A shorter text can hold neither a secret nor a token. */
const MIN_REDACTABLE_CHARS = 4;

/** A quick look whether a key may be one of those that shapes know. */
const TELLING_KEY = /pass|secret|token|key|authorization/i;

const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder("utf-8", { ignoreBOM: true });

const SHAPES_ONLY = buildAutomaton([], TRIGGERS);

export function createRedactor(secrets: readonly Secret[]): Redactor {
  const needles = spellSecrets(secrets);
  const automaton = needles.length === 0 ? SHAPES_ONLY : buildAutomaton(needles, TRIGGERS);
  const labels = secrets.map(({ name }) => utf8.encode(`[redacted:${name}]`));
  const shapeLabel = utf8.encode("[redacted]");
  const labelOf = (secret: number) => (secret === SHAPE_LABEL ? shapeLabel : labels[secret]!);

  const redactBytes = (bytes: Uint8Array) => new RedactionScanner(automaton, labelOf).finish(bytes);
  const redact = (text: string): string => {
    if (text.length < MIN_REDACTABLE_CHARS) return text;
    const bytes = utf8.encode(text);
    const shown = redactBytes(bytes);
    // Untouched text keeps even what UTF-8 cannot carry, such as half a surrogate pair.
    return shown === bytes ? text : fromUtf8.decode(shown);
  };
  const labelOfNumber = numberLabels(secrets);
  return {
    redact,
    redactBytes,
    redactJson: (json, ownRecord) =>
      redactJson(
        json,
        ownRecord === undefined
          ? { redact, number: labelOfNumber }
          : { redact: (text) => redactShown(text, redact), number: NO_NUMBERS },
      ),
    stream: () => new RedactionScanner(automaton, labelOf),
  };
}

/** Stripping puts together what stood apart: a text that would show a secret then is kept as it is shown. */
function redactShown(text: string, redact: (text: string) => string): string {
  const kept = redact(text);
  const plain = plainText(kept);
  const shown = redact(plain);
  return shown === plain ? kept : shown;
}

/** What hides the parts of a value. */
interface Hiding {
  readonly redact: (text: string) => string;
  readonly number: ReadonlyMap<number, string>;
}

const NO_NUMBERS: ReadonlyMap<number, string> = new Map();
const A_NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** A number is compared as one: where it was read from JSON, nobody knows any more how it was written. */
function numberLabels(secrets: readonly Secret[]): ReadonlyMap<number, string> {
  const labels = new Map<number, string>();
  const unhidden = new Set(unredactable(secrets));
  for (const secret of secrets) {
    const text = secret.value.trim();
    if (A_NUMBER.test(text) && !unhidden.has(secret)) labels.set(Number(text), `[redacted:${secret.name}]`);
  }
  return labels;
}

function redactJson(json: Json, hiding: Hiding): Json {
  if (typeof json === "string") return hiding.redact(json);
  if (typeof json === "number") return hiding.number.get(json) ?? json;
  if (json === null || typeof json !== "object") return json;
  if (Array.isArray(json)) {
    const items = json.map((item: Json) => redactJson(item, hiding));
    return items.some((item, index) => item !== json[index]) ? items : json;
  }
  const entries = Object.entries(json);
  const redacted = entries.map(
    ([key, value]) => [hiding.redact(key), redactMember(key, value, hiding)] as const,
  );
  const isChanged = redacted.some(
    ([key, value], index) => key !== entries[index]![0] || value !== entries[index]![1],
  );
  return isChanged ? Object.fromEntries(redacted) : json;
}

/** A value beside a telling key is hidden as it would be in `key="value"`, so that logs and outputs agree. */
function redactMember(key: string, value: Json, hiding: Hiding): Json {
  const alone = redactJson(value, hiding);
  if (typeof value !== "string" || alone !== value || !TELLING_KEY.test(key)) return alone;
  const assigned = `${key}="`;
  const together = hiding.redact(assigned + value);
  return together.startsWith(assigned) ? together.slice(assigned.length) : alone;
}
