const SECOND_MS = 1000;
const UNITS: { readonly [unit: string]: number } = {
  "": 1,
  K: 1024,
  M: 1024 ** 2,
  G: 1024 ** 3,
  T: 1024 ** 4,
};

/** Reads `50M`, `4880K`, or `4000Mn` (per node, in older releases). Null if the value is missing. */
export function parseMemory(text: string): number | null {
  const match = /^([0-9.]+)([KMGT]?)n?$/.exec(text);
  return match === null ? null : Math.round(Number(match[1]) * UNITS[match[2] ?? ""]!);
}

/** Reads `1-02:03:04`, `02:03:04` or `03:04`. Null if there is no limit or it is not reported. */
export function parseTimeLimit(text: string): number | null {
  const match = /^(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)$/.exec(text);
  if (match === null) return null;
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  return (((days! * 24 + hours!) * 60 + minutes!) * 60 + seconds!) * SECOND_MS;
}

/**
 * Reads seconds since 1970, as set by SLURM_TIME_FORMAT, or this machine's local time. Null for `Unknown`, `None` and
 * `N/A`.
 */
export function parseTime(text: string): number | null {
  if (/^\d+$/.test(text)) return text === "0" ? null : Number(text) * SECOND_MS;
  return /^\d{4}-\d\d-\d\dT[\d:]+$/.test(text) ? new Date(text).getTime() : null;
}

/** Reads `exit:signal` of sacct and scontrol, or the raw wait status of squeue. */
export function parseExit(text: string): {
  readonly exitCode: number | null;
  readonly signal: number | null;
} {
  const pair = /^(\d+):(\d+)$/.exec(text);
  if (pair === null && !/^\d+$/.test(text)) return { exitCode: null, signal: null };
  const [exitCode, signal] =
    pair === null ? [Number(text) >> 8, Number(text) & 0x7f] : [Number(pair[1]), Number(pair[2])];
  return signal! > 0 ? { exitCode: null, signal: signal! } : { exitCode: exitCode!, signal: null };
}

/** Reads a list such as `node[1-3,07],gpu1`. */
export function parseNodeList(text: string): string[] {
  if (!/^[^\s()]+$/.test(text)) return [];
  return (text.match(/(?:\[[^\]]*\]|[^,[])+/g) ?? []).flatMap(expandNodes);
}

function expandNodes(pattern: string): string[] {
  const match = /^([^[]*)\[([^\]]*)\](.*)$/.exec(pattern);
  if (match === null) return [pattern];
  const [, before = "", ranges = "", after = ""] = match;
  const numbers = ranges.split(",").flatMap(expandRange);
  return numbers.flatMap((number) => expandNodes(after).map((rest) => `${before}${number}${rest}`));
}

/** Keeps a garbled answer from filling the memory. */
const MAX_RANGE = 100_000;

function expandRange(range: string): string[] {
  const match = /^(\d+)-(\d+)$/.exec(range);
  if (match === null) return [range];
  const [first, last] = [Number(match[1]), Number(match[2])];
  const count = Math.max(0, Math.min(last - first + 1, MAX_RANGE));
  return Array.from({ length: count }, (_, index) => String(first + index).padStart(match[1]!.length, "0"));
}
