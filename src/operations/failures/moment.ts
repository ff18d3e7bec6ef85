import { z } from "zod";
import { parseDuration } from "../../file/read/duration.js";

const MAX_TEXT = 40;
const DATE = /^\d{4}-\d{2}-\d{2}(?:T.*)?$/;

/** A point in time, as somebody says it: how long from now, or the date itself. */
export const moment = z
  .string()
  .max(MAX_TEXT)
  .refine(
    (text) => parseDuration(text) !== null || parseDate(text) !== null,
    "must be a duration such as 24h or 7d, or a date such as 2026-03-01 or 2026-03-01T12:00:00Z",
  );

export function momentBefore(text: string, now: number): number {
  return parseDate(text) ?? now - (parseDuration(text) ?? 0);
}

export function momentAfter(text: string, now: number): number {
  return parseDate(text) ?? now + (parseDuration(text) ?? 0);
}

function parseDate(text: string): number | null {
  if (!DATE.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : at;
}
