import type { ReactNode } from "react";
import { durationText } from "../../../../src/tell/words/duration-text.js";
import { count } from "../../words/status.js";
import type { TimelineRow } from "./run-data.js";

const ROW_HEIGHT = 22;
const CLASS: { readonly [outcome: string]: string } = { completed: "ok", failed: "bad", stopped: "stop" };

interface SpansProps {
  readonly row: TimelineRow;
  readonly y: number;
  readonly x: (ms: number) => number;
  readonly total: number;
}

/** The work of one step: a bar for each attempt, a line for each wait. */
export function RowSpans({ row, y, x, total }: SpansProps): ReactNode {
  const middle = y + ROW_HEIGHT / 2;
  const { jobs, spans, from_ms, to_ms, failed } = row;
  if (jobs > 1)
    return (
      <>
        <rect
          className="band"
          x={x(from_ms ?? 0)}
          y={middle - 6}
          width={Math.max(3, x(to_ms ?? total) - x(from_ms ?? 0))}
          height="12"
          rx="2"
        >
          <title>{`${jobs} items, ${count(failed, "failed attempt")}`}</title>
        </rect>
        {spans.map(({ seq, to_ms: end }) => (
          <rect key={seq} className="bad" x={x(end ?? 0)} y={middle - 6} width="2" height="12" />
        ))}
        <text className="ax" x={x(from_ms ?? 0) - 6} y={middle + 4} textAnchor="end">
          {jobs} items{failed > 0 ? `, ${count(failed, "failure")}` : ""}
        </text>
      </>
    );
  return spans.map(({ kind, seq, attempt, from_ms: from, to_ms: to, outcome }) => {
    const end = to ?? total;
    const took = durationText(Math.max(0, end - from));
    if (kind === "attempt")
      return (
        <rect
          key={seq}
          className={outcome === null ? "live" : CLASS[outcome]}
          x={x(from)}
          y={middle - 6}
          width={Math.max(2.5, x(end) - x(from))}
          height="12"
          rx="2"
        >
          <title>{`attempt ${attempt}: ${outcome ?? "running"}, ${took}`}</title>
        </rect>
      );
    if (kind === "script")
      return (
        <rect
          key={seq}
          className="rec"
          x={x(from)}
          y={middle - 6}
          width={Math.max(2.5, x(end) - x(from))}
          height="12"
        >
          <title>{`recovery script, ${took}`}</title>
        </rect>
      );
    return (
      <path key={seq} className={kind === "slot" ? "queue" : "wait"} d={`M${x(from)} ${middle}H${x(end)}`}>
        <title>{`${WAITS[kind]}, ${took}`}</title>
      </path>
    );
  });
}

const WAITS = {
  pause: "pause",
  parked: "waits for a breaker",
  question: "asks a question",
  slot: "no free slot",
} as const;
