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

const SIZE_FORM = /^(\d{1,15}(?:\.\d{1,6})?) ?(?:([kmgt])(?:i?b)?|b)?$/i;
const BYTES_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ["k", 1024],
  ["m", 1024 ** 2],
  ["g", 1024 ** 3],
  ["t", 1024 ** 4],
]);

/** Parses `512m`, `2g` or `1.5GiB` to bytes. Every unit is a power of 1024. Null if the text has no such form. */
export function parseMemorySize(text: string): number | null {
  const found = SIZE_FORM.exec(text.trim());
  if (found === null) return null;
  const [, amount, unit] = found;
  const bytes = Math.round(
    Number(amount) * (unit === undefined ? 1 : BYTES_PER_UNIT.get(unit.toLowerCase())!),
  );
  return Number.isSafeInteger(bytes) ? bytes : null;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MEBIBYTE = 1024 ** 2;

/** `30`, `30:00`, `04:00:00`; after days and a dash `1-12`, `1-12:30`, `1-12:30:00`. */
const CLOCK = /^(?:(\d{1,4})-)?(\d{1,6})(?::(\d{1,6}))?(?::(\d{1,6}))?$/;

/** A time limit as Slurm takes it, or a duration such as `4h`; in milliseconds. Null: neither. */
export function parseWalltime(text: string): number | null {
  const found = CLOCK.exec(text.trim());
  if (found === null) return parseDuration(text);
  const [days, ...rest] = found.slice(1);
  const parts = rest.flatMap((part) => (part === undefined ? [] : [Number(part)]));
  // Without days one number is minutes and two are minutes and seconds; after days the first are hours.
  const units =
    days === undefined && parts.length < 3 ? [MINUTE_MS, SECOND_MS] : [HOUR_MS, MINUTE_MS, SECOND_MS];
  return parts.reduce((sum, part, place) => sum + part * units[place]!, Number(days ?? 0) * DAY_MS);
}

/**
 * Parses memory as Slurm does, to bytes. A plain number is mebibytes, and 0 is all memory of a node. Null if the text
 * is invalid.
 */
export function parseSlurmMemory(text: string): number | null {
  const trimmed = text.trim();
  if (trimmed === "0") return Number.MAX_SAFE_INTEGER;
  return /^\d{1,12}$/.test(trimmed) ? Number(trimmed) * MEBIBYTE : parseMemorySize(trimmed);
}

/** GPUs of a `gres`: `gpu`, `gpu:2`, `gpu:a100`, `gpu:a100:2`. Null: it is something else. */
export function parseGpus(text: string): { readonly kind: string; readonly count: number } | null {
  const found = /^(gpu(?::[A-Za-z][A-Za-z0-9_.-]{0,60})?)(?::(\d{1,4}))?$/.exec(text.trim());
  return found === null ? null : { kind: found[1]!, count: Number(found[2] ?? 1) };
}

/**
 * A text with long options of a command, as words of which each is one option: `--exclusive`, `--constraint=a`. A value may
 * follow after a blank. Null: something in it is not a long option.
 */
export function parseLongOptions(text: string): readonly string[] | null {
  const words = splitWords(text);
  if (words === null) return null;
  const options: string[] = [];
  for (const word of words) {
    const last = options.at(-1);
    if (LONG_OPTION.test(word)) options.push(word);
    else if (last !== undefined && !last.includes("=") && !word.startsWith("-"))
      options[options.length - 1] = `${last}=${word}`;
    else return null;
  }
  return options;
}

const LONG_OPTION = /^--[A-Za-z][A-Za-z0-9-]{0,60}(?:=[^\n\r]*)?$/;
const WORD = /(?:[^\s'"\\]|'[^']*'|"[^"\\]*")+/y;

/** Words between blanks, where quotes keep blanks together; null: a quote or a backslash leaves open what is meant. */
function splitWords(text: string): readonly string[] | null {
  const words: string[] = [];
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text[at]!)) {
      at += 1;
      continue;
    }
    WORD.lastIndex = at;
    const found = WORD.exec(text);
    if (found === null) return null;
    words.push(found[0].replaceAll(/'([^']*)'|"([^"\\]*)"/g, "$1$2"));
    at = WORD.lastIndex;
    if (at < text.length && !/\s/.test(text[at]!)) return null;
  }
  return words;
}
