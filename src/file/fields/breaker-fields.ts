import { type BreakerDefinition, DEFAULT_BREAKER } from "../../core/model/definition.js";
import { traitsOf } from "../../core/model/failure.js";
import { listOf, mapOf, mapped, named, object, type Schema, union } from "../read/schema.js";
import { duration, number, text } from "../read/schema-scalars.js";
import { failureName } from "./retry-fields.js";

export const BREAKER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
export const BREAKER_RULE =
  "A name has at most 100 letters, digits, `.`, `_` and `-`, and begins with a letter or a digit.";
/** Each failure that counts stands in the row that all engines share. */
const MAX_FAILURES = 1_000;
const MIN_RATE = 0.001;
const MAX_RATE = 1_000;
const SECONDS = { s: 1, min: 60 } as const;
const RATE = /^(\d+(?:\.\d+)?)\s*\/\s*(s|min)$/;

/** A lost worker says nothing of what the step uses. */
const watched = failureName((name) =>
  traitsOf(name).lost
    ? {
        message: `errors of the class \`${name}\` say nothing of what a step uses`,
        hint: "Remove it: such attempts are restarted.",
      }
    : null,
);

const rate: Schema<number, number | string> = union(
  number({ min: MIN_RATE, max: MAX_RATE, whole: false }),
  mapped(
    text({
      expected: "a rate such as `10/s`",
      pattern: /^(?:[1-9]\d{0,2}|[1-9]\d{0,2}\.\d+)\s*\/\s*(?:s|min)$/,
      rule: "Write how many jobs a second or a minute go on, such as `10/s` or `30/min`.",
    }),
    perSecond,
  ),
);

function perSecond(written: string): number {
  const [, count = "1", unit = "s"] = RATE.exec(written) ?? [];
  return Number(count) / SECONDS[unit as keyof typeof SECONDS];
}

const policy = mapped(
  object({
    failures: {
      schema: number({ min: 1, max: MAX_FAILURES, whole: true }),
      doc: "So many failures within `within` open it.",
      default: DEFAULT_BREAKER.failures,
    },
    within: { schema: duration({ min: 1 }), doc: "How long a failure counts.", default: "10m" },
    classes: {
      schema: listOf(watched, { items: "error classes or codes", notEmpty: true }),
      doc: "Only failures of these classes or codes count, and wait while it is open. IDLE_TIMEOUT counts only by its code.",
      default: [...DEFAULT_BREAKER.classes],
    },
    probe_every: {
      schema: duration({ min: 100 }),
      doc: "While it is open, one attempt is let through in each such interval.",
      default: "2m",
    },
    max_open: {
      schema: duration({ min: 1 }),
      doc: "After so long it stops nothing any more, and the failures that waited climb on.",
      default: "6h",
    },
    release: {
      schema: rate,
      doc: "How many jobs go on a second, on each engine, once it is closed.",
      default: "10/s",
    },
  }),
  (given): Omit<BreakerDefinition, "name"> => ({
    failures: given.failures ?? DEFAULT_BREAKER.failures,
    withinMs: given.within ?? DEFAULT_BREAKER.withinMs,
    classes: [...new Set(given.classes ?? DEFAULT_BREAKER.classes)],
    probeEveryMs: given.probe_every ?? DEFAULT_BREAKER.probeEveryMs,
    maxOpenMs: given.max_open ?? DEFAULT_BREAKER.maxOpenMs,
    releasePerSecond: given.release ?? DEFAULT_BREAKER.releasePerSecond,
  }),
);

/** Breakers by name. */
export const breakers = mapped(
  mapOf(named("breaker", policy), { keyPattern: BREAKER_NAME, keyRule: BREAKER_RULE }),
  (found): readonly BreakerDefinition[] => [...found].map(([name, rest]) => ({ name, ...rest })),
);
