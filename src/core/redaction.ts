import type { Json } from "./json.js";
import { buildAutomaton, type Trigger } from "./redaction-automaton.js";
import { type Secret, spellSecrets, unredactable } from "./redaction-needles.js";
import { RedactionScanner, SHAPE_LABEL } from "./redaction-scanner.js";
import { SHAPES } from "./redaction-shapes.js";

export { type Secret, unredactable };

/** Hides secrets and well-known tokens. Made once for a run; every stream of it is independent. */
export interface Redactor {
  redact(text: string): string;
  /** Strings and keys, at any depth. What holds nothing to hide is returned as it is. */
  redactJson(json: Json): Json;
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

  const redact = (text: string): string => {
    if (text.length < MIN_REDACTABLE_CHARS) return text;
    const bytes = utf8.encode(text);
    const scanner = new RedactionScanner(automaton, labelOf);
    const shown = scanner.finish(bytes);
    // Untouched text keeps even what UTF-8 cannot carry, such as half a surrogate pair.
    return shown === bytes ? text : fromUtf8.decode(shown);
  };
  return {
    redact,
    redactJson: (json) => redactJson(json, redact),
    stream: () => new RedactionScanner(automaton, labelOf),
  };
}

function redactJson(json: Json, redact: (text: string) => string): Json {
  if (typeof json === "string") return redact(json);
  if (json === null || typeof json !== "object") return json;
  if (Array.isArray(json)) {
    const items = json.map((item: Json) => redactJson(item, redact));
    return items.some((item, index) => item !== json[index]) ? items : json;
  }
  const entries = Object.entries(json);
  const redacted = entries.map(([key, value]) => [redact(key), redactMember(key, value, redact)] as const);
  const isChanged = redacted.some(
    ([key, value], index) => key !== entries[index]![0] || value !== entries[index]![1],
  );
  return isChanged ? Object.fromEntries(redacted) : json;
}

/** A value beside a telling key is hidden as it would be in `key="value"`, so that logs and outputs agree. */
function redactMember(key: string, value: Json, redact: (text: string) => string): Json {
  const alone = redactJson(value, redact);
  if (typeof value !== "string" || alone !== value || !TELLING_KEY.test(key)) return alone;
  const assigned = `${key}="`;
  const together = redact(assigned + value);
  return together.startsWith(assigned) ? together.slice(assigned.length) : alone;
}
