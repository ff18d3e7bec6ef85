import { durationText } from "../../../src/tell/words/duration-text.js";
import type { RungMark } from "../../../src/tell/words/rung-marks.js";
import type { paths } from "../api/schema.js";
import { RUNGS } from "../pages/step/rungs.js";

export type Stats = paths["/api/v1/stats"]["get"]["responses"][200]["content"]["application/json"];
export type Outcome = "at_once" | "rescued" | "handled" | "held" | "failed";

/** Outcomes in the order of the stack, from the bottom up. */
export const OUTCOMES: readonly { readonly name: Outcome; readonly words: string }[] = [
  { name: "at_once", words: "no failure" },
  { name: "rescued", words: "rescued" },
  { name: "handled", words: "handled" },
  { name: "held", words: "held" },
  { name: "failed", words: "failed" },
];

/** The periods that the page can show, and their intervals. */
export const WINDOWS = [
  { name: "24h", words: "24 h", ms: 86_400_000, bucket: "hour" },
  { name: "7d", words: "7 days", ms: 7 * 86_400_000, bucket: "day" },
  { name: "28d", words: "28 days", ms: 28 * 86_400_000, bucket: "day" },
] as const;
export type Window = (typeof WINDOWS)[number];

export interface Piece {
  readonly at: string;
  readonly label: string;
  readonly parts: { readonly [name in Outcome]: number };
}

const BUCKET_MS = { hour: 3_600_000, day: 86_400_000 };
const NOTHING = { at_once: 0, rescued: 0, handled: 0, held: 0, failed: 0 };
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The start of the window's first interval, used for both figures and chart. */
export function startOf({ bucket, ms }: Window, now: number): number {
  return (Math.floor((now - ms) / BUCKET_MS[bucket]) + 1) * BUCKET_MS[bucket];
}

/** Every interval of the window, including empty ones. */
export function piecesOf(overTime: Stats["over_time"], window: Window, now: number): Piece[] {
  const length = BUCKET_MS[window.bucket];
  const told = new Map(overTime.map((each) => [Date.parse(each.at), each]));
  const first = startOf(window, now);
  return Array.from({ length: Math.floor((now - first) / length) + 1 }, (_, index) => {
    const at = first + index * length;
    const iso = new Date(at).toISOString();
    const label = window.bucket === "hour" ? iso.slice(11, 16) : dayText(iso);
    return { at: iso, label, parts: { ...NOTHING, ...told.get(at) } };
  });
}

/** A date such as "19 Oct". */
export function dayText(iso: string): string {
  return `${Number(iso.slice(8, 10))} ${MONTHS[Number(iso.slice(5, 7)) - 1]}`;
}

export function percentText(part: number, whole: number): string {
  if (whole === 0 || part === 0) return "0 %";
  const percent = (100 * part) / whole;
  return `${percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`;
}

export function numberText(value: number): string {
  return value.toLocaleString("en-US");
}

/** The cost of trying again: attempts that did not succeed, and pauses. */
export function costText({ running_ms, lost_ms, retry_waiting_ms }: Stats): string {
  const share = percentText(lost_ms, running_ms);
  return `${durationText(lost_ms)} of work lost (${share} of ${durationText(running_ms)}), and ${durationText(retry_waiting_ms)} of waiting`;
}

/** What people decided and how long they took, and what waits for them now. */
export function decidedText({ decisions, outcomes }: Pick<Stats, "decisions" | "outcomes">): string {
  const { holds, questions, median_ms } = decisions;
  const held = outcomes.held === 0 ? [] : [`${numberText(outcomes.held)} waiting now`];
  const decided =
    median_ms === null
      ? []
      : [`${numberText(holds + questions)} decided, median wait ${durationText(median_ms)}`];
  return [...decided, ...held].join(", ") || "nothing waited for a decision";
}

/** The rungs that ever acted on a failure. The failure book does not know about the others. */
export function marksOf(rescues: readonly { readonly by: string }[]): RungMark[] {
  return RUNGS.map((rung) => {
    const acted = rescues.some(
      ({ by }) => by === rung || (rung === "hold" && /^(operator|expired)\./.test(by)),
    );
    if (!acted) return { rung, mark: "unreached", times: 0, reason: "" };
    return { rung, mark: rung === "hold" || rung === "fail" ? rung : "acted", times: 1, reason: "" };
  });
}

/** Sorts by the order of the ladder, with people last. */
export function sortHelpers(rungs: Stats["rungs"], ladder: readonly string[]): Stats["rungs"] {
  const place = ({ by }: { readonly by: string }): number => {
    const at = ladder.indexOf(by);
    return at < 0 ? ladder.length : at;
  };
  return [...rungs].sort((a, b) => place(a) - place(b) || a.by.localeCompare(b.by));
}
