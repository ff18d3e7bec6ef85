import { MAX_BACKOFF_MS } from "../../core/decide/backoff.js";

/** Seconds, or a date by the server's own clock, since ours may differ. */
export function readRetryAfter(headers: Headers, startedAt: number): number | null {
  const text = headers.get("retry-after")?.trim();
  if (!text) return null;
  if (/^\d+$/.test(text)) return boundedWait(Number(text) * 1_000);
  const dueAt = Date.parse(text);
  if (Number.isNaN(dueAt)) return null;
  const serverNow = Date.parse(headers.get("date") ?? "");
  return boundedWait(Math.max(0, dueAt - (Number.isNaN(serverNow) ? startedAt : serverNow)));
}

/** Any wait that was asked for, as the longest at most: the log is JSON, in which Infinity would be null. */
export function boundedWait(waitMs: number): number {
  return Math.min(waitMs, MAX_BACKOFF_MS);
}
