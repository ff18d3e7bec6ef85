/** The end of the year 9999: no event happens after it. */
export const LAST_TIME = 253_402_300_799_999;
/** What a `Date` can hold, before and after the epoch. */
export const DATE_RANGE = 8.64e15;

/**
 * Formats milliseconds since the epoch. It is used wherever a time is shown. One absurd time must not make the rest
 * unreadable.
 */
export function iso(at: number): string {
  return new Date(Math.min(Math.max(at, -DATE_RANGE), DATE_RANGE) || 0).toISOString();
}
