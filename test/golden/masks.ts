import { jsonText, sortedKeys } from "./json-text.js";

/** What one place calls by another name than the next: its folders, its port. */
export interface Place {
  readonly from: string;
  readonly to: string;
}

/** Of the numbers of milliseconds those that are configured; all others are measured. */
const CONFIGURED = /(?:^|_)(?:delay|timeout|grace|jitter)_ms$/;
/**
 * Of one machine or one moment. A `request` is a hash of folders, `bytes` and `base64` are of files that tell
 * durations.
 */
const MEASURED = new Set(["due_at", "pid", "host", "memory_bytes", "request", "bytes", "base64"]);
/** Measured only where an attempt lasts long enough, so that the keys themselves are not always there. */
const SAMPLED = new Set(["cpu_ms", "peak_memory_bytes", "read_bytes", "written_bytes", "used", "stretches"]);
/** A list of members with one of these is in the order of what was measured. */
const ORDERS = ["cost_ms", "running_ms", "run_ms", "used"];
/** What is asked for is configured; a schema names what is masked elsewhere. */
const UNMASKED = new Set(["asked", "inputSchema"]);
const OF_SCHEMAS = ["openapi", "$schema", "$defs"];
const INSTANT = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?/g;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Their width differs too, and with it that of a column. A pause before a retry is configured, not measured. */
const WIDE: readonly (readonly [RegExp, string])[] = [
  [/ *\+\d+\.\d+s\b/g, " +TIME"],
  [/(?<!retry \d+ of \d+ in )\b(?:\d+ (?:h|min) )*\d+(?:\.\d+)? (?:ms|s|min)\b/g, "DURATION"],
  [/\blocal-\d+\b/g, "local-PID"],
  [/, (?:peak_memory_bytes|cpu_ms|read_bytes|written_bytes) \d+/g, ""],
  [/\btime="\d+\.\d+"/g, 'time="SECONDS"'],
];

/** JSON with its keys sorted and its measured values masked, one document or one on each line; other text as it is. */
export function masked(text: string, places: readonly Place[]): string {
  const placed = places.reduce((all, { from, to }) => all.replaceAll(from, to), text);
  const whole = parsed(placed);
  if (whole !== null) return jsonText(maskedValue(whole.value, ""));
  const lines = placed.split("\n");
  const values = lines.filter((line) => line !== "").map(parsed);
  if (values.length > 0 && values.every((each) => each !== null))
    return values.map((each) => jsonText(maskedValue(each!.value, ""))).join("\n");
  return maskedText(placed);
}

function maskedText(text: string): string {
  const told = text.replace(INSTANT, "INSTANT").replace(UUID, "UUID");
  const wide = WIDE.reduce((all, [pattern, word]) => all.replace(pattern, word), told);
  return wide === told ? told : wide.replace(/(?<=\S) {2,}/g, "  ").replace(/ +$/gm, "");
}

function maskedValue(value: unknown, key: string): unknown {
  if (UNMASKED.has(key) || OF_SCHEMAS.some((name) => Object.hasOwn(Object(value), name)))
    return sortedKeys(value);
  if (isMeasured(key) && value !== null) return "MEASURED";
  if (typeof value === "string") {
    const inner = parsed(value);
    return inner === null ? maskedText(value) : { JSON: maskedValue(inner.value, "") };
  }
  if (typeof value === "number" && value > 1_600_000_000_000) return "INSTANT";
  if (Array.isArray(value)) return maskedList(value);
  if (typeof value !== "object" || value === null) return value;
  return sortedKeys(
    Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !SAMPLED.has(name))
        .map(([name, each]) => [name, maskedValue(each, name)]),
    ),
  );
}

function isMeasured(key: string): boolean {
  return MEASURED.has(key) || (key.endsWith("_ms") && !CONFIGURED.test(key));
}

function maskedList(list: readonly unknown[]): unknown[] {
  const isOrdered = list.every((each) => !ORDERS.some((key) => Object.hasOwn(Object(each), key)));
  // A wait for a place is told if it lasted long enough.
  const told = list.filter((each) => (each as { kind?: unknown } | null)?.kind !== "slot");
  const values = told.map((each) => maskedValue(each, ""));
  return isOrdered ? values : values.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** The object or list that a text is, if it is one. */
function parsed(text: string): { readonly value: object } | null {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return { value: JSON.parse(text) as object };
  } catch {
    return null;
  }
}
