import { BACKOFF_MODES, type Backoff, ON_WORKER, type RetryPolicy } from "../../core/model/definition.js";
import { FAILURE_CLASSES, type FailureClass, isFailureClass, traitsOf } from "../../core/model/failure.js";
import { childPath } from "../read/path.js";
import {
  listOf,
  mapped,
  named,
  object,
  type ReadContext,
  type ReadOf,
  type Schema,
  union,
  type WrittenFields,
} from "../read/schema.js";
import { duration, number, oneOf, scalarText } from "../read/schema-scalars.js";
import type { SourceMap } from "../read/source-tree.js";
import { didYouMean, quote } from "../read/suggest.js";

export const MAX_COUNT = 1_000_000;

/** A retry policy as far as a file gives it; defaults fill the rest. */
export interface RetryDraft {
  readonly max?: number | undefined;
  readonly backoff?: BackoffDraft | undefined;
  readonly on?: readonly string[] | undefined;
  readonly on_worker?: RetryPolicy["onWorker"];
}

export interface BackoffDraft {
  readonly mode?: Backoff["mode"] | undefined;
  readonly delayMs?: number | undefined;
  readonly maxDelayMs?: number | undefined;
  readonly jitter?: number | undefined;
}

const mode = oneOf(BACKOFF_MODES);
const modeAlone = mapped(mode, (value): BackoffDraft => ({ mode: value }));

const backoffMap = mapped(
  warnIdleDelay(
    object({
      mode: { schema: mode, doc: "How the delay grows from retry to retry. `delay_ms` alone means `fixed`." },
      delay_ms: { schema: duration({ min: 0 }), doc: "The delay before the first retry." },
      max_delay_ms: { schema: duration({ min: 0 }), doc: "No delay is longer than this." },
      jitter: {
        schema: number({ min: 0, max: 1, whole: false }),
        doc: "Lengthens each delay by up to this share of it.",
        default: 0,
      },
    }),
  ),
  (given): BackoffDraft => ({
    mode: given.mode,
    delayMs: given.delay_ms,
    maxDelayMs: given.max_delay_ms,
    jitter: given.jitter,
  }),
);

export const backoff = named("backoff", union(modeAlone, backoffMap));

/** `mode: none` beside a delay is legal but the delay is never waited, which nobody means. */
function warnIdleDelay<T extends { mode: string | undefined; delay_ms: number | undefined }, W>(
  schema: Schema<T, W>,
): Schema<T, W> {
  return {
    ...schema,
    read(node, path, context) {
      const value = schema.read(node, path, context);
      if (value?.mode === "none" && (value.delay_ms ?? 0) > 0) {
        const message = "`delay_ms` has no effect with `mode: none`";
        const hint = "Remove one of the two.";
        context.findings.warn({
          code: "NO_EFFECT",
          message,
          hint,
          at: node.at,
          path: childPath(path, "delay_ms"),
        });
      }
      return value;
    },
  };
}

/** A code, or a class; `refuse` says why some classes are of no use here. */
export const failureName = (
  refuse: (name: FailureClass) => { readonly message: string; readonly hint: string } | null,
) =>
  scalarText({
    expected: "an error code or class",
    maxChars: 100,
    pattern: /^[A-Za-z0-9_.-]+$/,
    rule: "Write a code such as TIMEOUT, EXIT_3 or 503, or a class such as transient_runtime.",
    check(name, node, path, context) {
      if (isFailureClass(name)) {
        const refused = refuse(name);
        if (refused !== null)
          context.findings.error({ code: "INVALID_VALUE", ...refused, at: node.at, path });
      } else if (/^[a-z]+_[a-z_]+$/.test(name)) {
        const suggestion = context.findings.suggester.nearest(name, FAILURE_CLASSES);
        if (suggestion === null) return;
        const message = `unknown error class ${quote(name)}${didYouMean(suggestion)}`;
        context.findings.error({
          code: "INVALID_VALUE",
          message,
          hint: `Rename it to \`${suggestion}\`.`,
          at: node.at,
          path,
        });
      }
    },
  });

const retryOn = failureName((name) =>
  traitsOf(name).mayPass
    ? null
    : {
        message: `errors of the class ${quote(name)} are never retried`,
        hint: "Remove it, or name single codes of the class.",
      },
);
export const retryOnList = listOf(retryOn, { items: "error codes or classes" });
export const retryMax = number({ min: 0, max: MAX_COUNT, whole: true });

const retryFields = {
  max: { schema: retryMax, doc: "Retries after the first try, per visit.", default: 0 },
  backoff: { schema: backoff, doc: "The wait before each retry; by default there is none." },
  on: { schema: retryOnList, doc: "Only these codes or classes are retried." },
  on_worker: {
    schema: oneOf(ON_WORKER),
    doc: "Which worker should run the next attempt, if it has room: another one than the last, any, or the same. After a recovery script it is the same.",
    default: "other",
  },
} as const;

const retryMap = object(retryFields);

/** `retry: 3` is what many try first; the message says what to write instead. */
export const retry: Schema<RetryDraft, WrittenFields<typeof retryFields>> = named("retry", {
  ...retryMap,
  read(node, path, context) {
    if (node.kind === "scalar" && typeof node.value === "number") {
      const message = "expected a map, found a number";
      context.findings.error({
        code: "WRONG_TYPE",
        message,
        hint: `Write retry: { max: ${node.written} }.`,
        at: node.at,
        path,
      });
      return undefined;
    }
    return retryMap.read(node, path, context);
  },
} satisfies Schema<ReadOf<typeof retryFields>, WrittenFields<typeof retryFields>>);

/** The `execution.retry_policy` form: `max_attempts` counts the first try too. */
const policyMap = object({
  max_attempts: {
    schema: number({ min: 1, max: MAX_COUNT, whole: true }),
    doc: "Tries in all, the first included.",
    required: true,
  },
  backoff: { schema: backoff, doc: "How the delay grows." },
  initial_delay_ms: { schema: duration({ min: 0 }), doc: "The delay before the first retry." },
  max_delay_ms: { schema: duration({ min: 0 }), doc: "No delay is longer than this." },
  retryable_errors: { schema: retryOnList, doc: "Only these codes or classes are retried." },
});

export const retryPolicy = mapped(
  policyMap,
  (given): RetryDraft => ({
    max: given.max_attempts === undefined ? undefined : given.max_attempts - 1,
    backoff: policyBackoff(given),
    on: given.retryable_errors,
  }),
);

function policyBackoff(given: {
  backoff: BackoffDraft | undefined;
  initial_delay_ms: number | undefined;
  max_delay_ms: number | undefined;
}): BackoffDraft | undefined {
  if (given.backoff === undefined && given.initial_delay_ms === undefined && given.max_delay_ms === undefined)
    return undefined;
  return {
    ...given.backoff,
    delayMs: given.initial_delay_ms ?? given.backoff?.delayMs,
    maxDelayMs: given.max_delay_ms ?? given.backoff?.maxDelayMs,
  };
}

/** Two ways to say the same thing in one step would need a winner; there is none. */
export function reportConflict(
  first: string,
  second: string,
  map: SourceMap,
  path: Parameters<typeof childPath>[0],
  context: ReadContext,
): void {
  const message = `${quote(first)} and ${quote(second)} mean the same thing`;
  context.findings.error({ code: "INVALID_VALUE", message, hint: "Keep one of the two.", at: map.at, path });
}
