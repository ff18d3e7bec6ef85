const SECOND_MS = 1000;
/** Capital letters are powers of 1024, lower-case ones of 1000. */
const UNITS: { readonly [unit: string]: number } = {
  "": 1,
  k: 1e3,
  m: 1e6,
  g: 1e9,
  t: 1e12,
  K: 1024,
  M: 1024 ** 2,
  G: 1024 ** 3,
  T: 1024 ** 4,
};

/** Reads `200M`, `2G`, `309.707MB` or `0.000B`. Null if the value is missing. */
export function parseMemory(text: string): number | null {
  const match = /^([0-9.]+)([kmgtKMGT]?)B?$/.exec(text);
  return match === null ? null : Math.round(Number(match[1]) * UNITS[match[2] ?? ""]!);
}

/** Reads `60` or `1:0:0`. Null for `INFINITY`. */
export function parseDuration(text: string): number | null {
  if (!/^\d+(:\d+){0,2}$/.test(text)) return null;
  return text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0) * SECOND_MS;
}

/**
 * Reads `Sun Nov 15 11:05:01 2026` or `2026-11-15T11:05:01`, in this machine's local time. Null for `-/-` and before
 * the job has begun.
 */
export function parseTime(text: string): number | null {
  const at = Date.parse(text);
  return Number.isNaN(at) || at <= SECOND_MS * 86_400 ? null : at;
}

/** Reads the requested resources: `-l h_rt=40,s_rt=12 -pe smp 2`. */
export function parseRequests(category: string): ReadonlyMap<string, string> {
  const lists = Array.from(category.matchAll(/-l (\S+)/g), ([, list = ""]) => list);
  const pairs = lists.flatMap((list) => list.split(",")).map((pair) => pair.split("="));
  return new Map(pairs.flatMap(([name, value]) => (name && value ? [[name, value] as const] : [])));
}
