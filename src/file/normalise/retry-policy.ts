import type { Backoff, RetryPolicy } from "../../core/model/definition.js";
import type { BackoffDraft, RetryDraft } from "../fields/retry-fields.js";

/** The delay of a growing or fixed backoff that names none. */
export const DEFAULT_BACKOFF_DELAY_MS = 1_000;

/** A step's own keys over the file's defaults, key by key, the backoff's keys too. */
export function mergeRetry(own: RetryDraft | undefined, defaults: RetryDraft | undefined): RetryDraft | null {
  if (own === undefined && defaults === undefined) return null;
  const bothBackoffs = own?.backoff !== undefined || defaults?.backoff !== undefined;
  return {
    max: own?.max ?? defaults?.max,
    backoff: bothBackoffs ? mergeBackoff(own?.backoff, defaults?.backoff) : undefined,
    on: own?.on ?? defaults?.on,
    on_worker: own?.on_worker ?? defaults?.on_worker,
  };
}

/** Whether the defaults give a step something that it does not say itself. */
export function addsToRetry(own: RetryDraft | undefined, defaults: RetryDraft): boolean {
  const adds = (given: object = {}, all: object = {}): boolean =>
    Object.entries(all).some(
      ([key, value]) => value !== undefined && given[key as keyof typeof given] === undefined,
    );
  const { backoff, ...rest } = defaults;
  return adds(own, rest) || adds(own?.backoff, backoff);
}

function mergeBackoff(own: BackoffDraft = {}, defaults: BackoffDraft = {}): BackoffDraft {
  return {
    mode: own.mode ?? defaults.mode,
    delayMs: own.delayMs ?? defaults.delayMs,
    maxDelayMs: own.maxDelayMs ?? defaults.maxDelayMs,
    jitter: own.jitter ?? defaults.jitter,
  };
}

/** Null when nothing is retried and nothing else is set; a backoff without retries stays for `--retry-max`. */
export function toRetryPolicy(draft: RetryDraft | null): RetryPolicy | null {
  if (draft === null) return null;
  const max = draft.max ?? 0;
  const { backoff, on, on_worker: onWorker } = draft;
  if (max === 0 && backoff === undefined && on === undefined && onWorker === undefined) return null;
  const policy = { max, backoff: toBackoff(backoff), on: [...new Set(on ?? [])] };
  return onWorker === undefined ? policy : { ...policy, onWorker };
}

function toBackoff(draft: BackoffDraft | undefined): Backoff {
  const mode = draft?.mode ?? (draft?.delayMs === undefined ? "none" : "fixed");
  if (draft === undefined || mode === "none")
    return { mode: "none", delayMs: 0, maxDelayMs: draft?.maxDelayMs ?? null, jitter: 0 };
  return {
    mode,
    delayMs: draft.delayMs ?? DEFAULT_BACKOFF_DELAY_MS,
    maxDelayMs: draft.maxDelayMs ?? null,
    jitter: draft.jitter ?? 0,
  };
}
