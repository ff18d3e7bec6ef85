import type { TimelineData, TimelineRow } from "./run-data.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Usual divisions of seconds, minutes and hours. */
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
];

/** At most `most` marks of an axis, at round values. */
export function axisMarks(totalMs: number, most = 7): number[] {
  let step = STEPS.find((each) => totalMs / each <= most);
  for (let days = 1; step === undefined; days *= 2)
    if (totalMs / (days * 24 * HOUR) <= most) step = days * 24 * HOUR;
  const marks: number[] = [];
  for (let at = 0; at <= totalMs; at += step) marks.push(at);
  return marks;
}

const UNITS = [
  [24 * HOUR, "d"],
  [HOUR, "h"],
  [MINUTE, "min"],
  [SECOND, "s"],
  [1, "ms"],
] as const;

/** The label of a mark: "4 s". All marks of an axis have the same unit. */
export function axisText(ms: number, marks: readonly number[]): string {
  const [unit, name] = UNITS.find(([each]) => (marks[1] ?? 1) >= each)!;
  return `${ms / unit} ${name}`;
}

/** How a label is aligned at its mark: centred, before the mark if it would be cut, or hidden if there is no room. */
export function axisAnchor(
  at: number,
  { before, width, text }: { readonly before: number | null; readonly width: number; readonly text: number },
): "middle" | "end" | null {
  if (at <= width - text / 2) return "middle";
  return before === null || at - before >= 1.5 * text ? "end" : null;
}

/** The sums below the rows. */
export interface TimelineSums {
  readonly busyMs: number;
  readonly waitedMs: number;
  readonly slot: { readonly step: string; readonly ms: number } | null;
}

export function sumsOf(rows: readonly TimelineRow[]): TimelineSums {
  let [busyMs, waitedMs] = [0, 0];
  let slot: TimelineSums["slot"] = null;
  for (const { step, busy_ms, waited_ms, spans } of rows) {
    busyMs += busy_ms;
    waitedMs += waited_ms;
    for (const { kind, from_ms, to_ms } of spans) {
      const ms = (to_ms ?? from_ms) - from_ms;
      if (kind === "slot" && ms > (slot?.ms ?? 0)) slot = { step, ms };
    }
  }
  return { busyMs, waitedMs, slot };
}

/** Jumps whose steps both have a row. */
export function drawnJumps(
  { jumps }: Pick<TimelineData, "jumps">,
  rowOf: ReadonlyMap<string, number>,
): {
  readonly seq: number;
  readonly ms: number;
  readonly from: number;
  readonly to: number;
  readonly kind: string;
}[] {
  return jumps.flatMap(({ from, to, at_ms, seq, kind }) => {
    const [start, end] = [rowOf.get(from), rowOf.get(to)];
    return start === undefined || end === undefined || start === end
      ? []
      : [{ seq, ms: at_ms, from: start, to: end, kind }];
  });
}

const BADGE = 18;
const MOST_ROOM = 72;
const NAME_CHARS = 16;
const CHAR = 6.7;

/** The layout of the numbers beside a step's name: their distance, and how many characters are left for the name. */
export function numbersBeside(count: number): { readonly apart: number; readonly room: number } {
  const apart = count < 2 ? BADGE : Math.min(BADGE, (MOST_ROOM - BADGE) / (count - 1));
  const taken = count < 3 ? 0 : Math.max(0, BADGE + (count - 1) * apart - 2 * BADGE);
  return { apart, room: NAME_CHARS - Math.ceil(taken / CHAR) };
}
