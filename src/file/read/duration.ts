const MS_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
]);
const SHORT_FORM = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d)){1,5}$/;
const SHORT_PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;
const ISO_FORM = /^P(?=.)(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
const MAX_DURATION_TEXT = 40;

/** Timers of the platform hold no more than this (24.8 days); a longer one would fire at once. */
export const MAX_DURATION_MS = 2_147_483_647;

/** Parses `30s`, `1h30m`, `250ms` or `PT1H30M` to milliseconds. Null if the text has no such form. */
export function parseDuration(text: string): number | null {
  const trimmed = text.trim();
  if (trimmed.length > MAX_DURATION_TEXT) return null;
  if (SHORT_FORM.test(trimmed)) return parseShortForm(trimmed);
  const iso = ISO_FORM.exec(trimmed);
  if (iso === null) return null;
  const [days, hours, minutes, seconds] = iso.slice(1).map((part) => Number(part ?? 0));
  return Math.round(days! * 86_400_000 + hours! * 3_600_000 + minutes! * 60_000 + seconds! * 1_000);
}

/** Units must get smaller from left to right: `30m1h` is more likely a slip than a wish. */
function parseShortForm(text: string): number | null {
  let total = 0;
  let lastUnit = Number.POSITIVE_INFINITY;
  for (const [, amount, unit] of text.matchAll(SHORT_PART)) {
    const unitMs = MS_PER_UNIT.get(unit!)!;
    if (unitMs >= lastUnit) return null;
    lastUnit = unitMs;
    total += Number(amount) * unitMs;
  }
  return Math.round(total);
}
