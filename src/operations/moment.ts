import { z } from "zod";
import { parseDuration } from "../file/read/amounts.js";

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

const DAY_MS = 86_400_000;
const DATE_AND_TIME =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?)?$/;

/** From its first millisecond to the one that is no longer in it; an instant ends where it begins. */
interface Moment {
  readonly from: number;
  readonly to: number;
}

/** `2026-03-01`, `2026-03-01 12:30` (UTC, as times are shown), `2h` (ago), `today`, `yesterday`; null: none of these. */
export function parseMoment(text: string, now: number): Moment | null {
  const word = text.trim();
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  if (word === "now") return { from: now, to: now };
  if (word === "today") return { from: today, to: today + DAY_MS };
  if (word === "yesterday") return { from: today - DAY_MS, to: today };
  const ago = parseDuration(word);
  if (ago !== null) return { from: now - ago, to: now - ago };
  const [, date, time, zone] = DATE_AND_TIME.exec(word) ?? [];
  if (date === undefined) return null;
  const day = Date.parse(`${date}T00:00Z`);
  // A date such as the 30th of February would be another day.
  if (Number.isNaN(day) || !new Date(day).toISOString().startsWith(date)) return null;
  if (time === undefined) return { from: day, to: day + DAY_MS };
  const at = Date.parse(`${date}T${time}${zone ?? "Z"}`);
  return Number.isNaN(at) ? null : { from: at, to: at };
}
