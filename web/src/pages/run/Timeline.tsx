import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { durationText } from "../../../../src/tell/words/duration-text.js";
import { useWidth } from "../../parts/use-size.js";
import { addressOf } from "../../place.js";
import type { Recovery } from "../../words/recoveries.js";
import { axisAnchor, axisMarks, axisText, drawnJumps, numbersBeside, sumsOf } from "./gantt.js";
import { spanOf } from "./moments.js";
import { RowSpans } from "./RowSpans.js";
import type { Drawing, RunSummary, TimelineData, TimelineRow } from "./run-data.js";
import { neverBegun } from "./story-lines.js";

interface TimelineProps {
  readonly run: RunSummary;
  readonly log: TimelineData;
  readonly drawing: Pick<Drawing, "nodes"> | null;
  readonly recoveries: readonly Recovery[];
  /** The recovery that is selected on the whole page. */
  readonly chosen: number | null;
  readonly choose: (number: number | null) => void;
}

export const ROW_HEIGHT = 22;
const TOP = 24;
const LEFT = 150;
const LEAST_WIDTH = 320;
const AXIS_TEXT = 48;
/** Rows rendered outside of the window. */
const MARGIN_ROWS = 20;

/** A row for each step with attempts, pauses, scripts, waits for a slot and jumps. Only visible rows are drawn. */
export function Timeline({ run, log, drawing, recoveries, chosen, choose }: TimelineProps): ReactNode {
  const total = spanOf(log);
  const box = useRef<HTMLDivElement>(null);
  const width = Math.max(LEAST_WIDTH, useWidth(box, 520));
  const [top, setTop] = useState(0);
  useEffect(() => {
    const body = box.current?.closest(".body");
    if (body === null || body === undefined) return;
    const look = (): void => setTop(body.scrollTop);
    body.addEventListener("scroll", look, { passive: true });
    return () => body.removeEventListener("scroll", look);
  }, []);
  const { rows } = log;
  const rowOf = useMemo(() => new Map(rows.map(({ step }, index) => [step, index])), [rows]);
  const jumps = useMemo(() => drawnJumps(log, rowOf), [log, rowOf]);
  const x = (ms: number): number => LEFT + ((width - LEFT - 12) * ms) / total;
  const marks = axisMarks(total, Math.max(2, Math.floor((width - LEFT) / AXIS_TEXT)));
  const first = Math.max(0, Math.floor((top - TOP) / ROW_HEIGHT) - MARGIN_ROWS);
  const last = first + 2 * MARGIN_ROWS + 60;
  const height = TOP + rows.length * ROW_HEIGHT + 6;
  const at = run.at === null ? null : Date.parse(run.at.time) - Date.parse(log.first_at);
  const line = at ?? (run.finished_at === null ? null : total);
  const numbers = new Map<string, Recovery[]>();
  for (const recovery of recoveries)
    numbers.set(recovery.step, [...(numbers.get(recovery.step) ?? []), recovery]);
  return (
    <div className="timeline">
      <Legend />
      <div ref={box} />
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: its steps are links with names of their own */}
      <svg className="gantt" viewBox={`0 0 ${width} ${height}`} width="100%">
        {marks.map((ms, index) => {
          const before = index === 0 ? null : x(marks[index - 1]!);
          const anchor = axisAnchor(x(ms), { before, width, text: AXIS_TEXT });
          return (
            <g key={ms}>
              <path className="gl" d={`M${x(ms)} ${TOP - 4}V${height}`} />
              {anchor !== null && (
                <text className="ax" x={x(ms)} y={TOP - 9} textAnchor={anchor}>
                  {axisText(ms, marks)}
                </text>
              )}
            </g>
          );
        })}
        {rows.slice(first, last).map((row, index) => (
          <Row
            key={row.step}
            runId={run.run_id}
            row={row}
            y={TOP + (first + index) * ROW_HEIGHT}
            isOdd={(first + index) % 2 === 1}
            x={x}
            total={total}
            numbers={numbers.get(row.step) ?? []}
            chosen={chosen}
            choose={choose}
          />
        ))}
        {jumps
          .filter(({ from, to }) => (from >= first && from < last) || (to >= first && to < last))
          .map(({ seq, ms, from, to, kind }) => {
            const [y1, y2] = [from, to].map((row) => TOP + (row + 0.5) * ROW_HEIGHT) as [number, number];
            const tip = y2 > y1 ? -4 : 4;
            return (
              <path
                key={`${seq} ${to}`}
                className={kind === "edge" ? "jump f" : "jump"}
                d={`M${x(ms)} ${y1}V${y2}m-3 ${tip}l3 ${-tip}l3 ${tip}`}
              />
            );
          })}
        {at !== null && (
          <rect className="future" x={x(at)} y={TOP - 4} width={Math.max(0, width - x(at))} height={height} />
        )}
        {line !== null && (
          <path className="nowline" d={`M${x(line)} ${TOP - 6}V${height}`}>
            <title>
              {at === null ? `end of the run, after ${durationText(total)}` : "the moment that is shown"}
            </title>
          </path>
        )}
      </svg>
      <Sums rows={rows} drawing={drawing} />
    </div>
  );
}

interface RowProps {
  readonly runId: number;
  readonly row: TimelineRow;
  readonly y: number;
  readonly isOdd: boolean;
  readonly x: (ms: number) => number;
  readonly total: number;
  readonly numbers: readonly Recovery[];
  readonly chosen: number | null;
  readonly choose: (number: number | null) => void;
}

function Row({ runId, row, y, isOdd, x, total, numbers, chosen, choose }: RowProps): ReactNode {
  const { apart, room } = numbersBeside(numbers.length);
  return (
    <g>
      {isOdd && <rect className="stripe" x="0" y={y} width="100%" height={ROW_HEIGHT} />}
      <a href={addressOf(["runs", runId, row.step])}>
        <text x="4" y={y + 15}>
          <title>{titleOf(row.step, numbers)}</title>
          {row.step.length > room ? `${row.step.slice(0, room - 1)}…` : row.step}
        </text>
      </a>
      {numbers.map(({ number, rung }, index) => (
        // biome-ignore lint/a11y/useSemanticElements: there are no buttons inside a picture
        <g
          key={number}
          className={`bdg${rung === "edge" ? " f" : ""}${number === chosen ? " is-chosen" : ""}`}
          role="button"
          tabIndex={0}
          aria-label={`Recovery ${number}`}
          aria-pressed={number === chosen}
          onClick={() => choose(number)}
          onKeyDown={({ key }) => (key === "Enter" || key === " ") && choose(number)}
          transform={`translate(${LEFT - 14 - (numbers.length - 1 - index) * apart} ${y + ROW_HEIGHT / 2})`}
        >
          <circle r="8" />
          <text y="3.5">{number}</text>
        </g>
      ))}
      <RowSpans row={row} y={y} x={x} total={total} />
    </g>
  );
}

/** The full name and the numbers, which may overlap if there are many. */
function titleOf(step: string, numbers: readonly Recovery[]): string {
  if (numbers.length === 0) return step;
  return `${step}: ${numbers.length === 1 ? "recovery" : "recoveries"} ${numbers.map(({ number }) => number).join(", ")}`;
}

function Legend(): ReactNode {
  return (
    <div className="tlegend small dim row g3 wrap">
      <span className="k ok">completed</span>
      <span className="k bad">failed</span>
      <span className="k stop">stopped</span>
      <span className="k wait">pause</span>
      <span className="k queue">no free slot</span>
    </div>
  );
}

function Sums({
  rows,
  drawing,
}: Pick<TimelineProps, "drawing"> & { readonly rows: readonly TimelineRow[] }): ReactNode {
  const { busyMs, waitedMs, slot } = sumsOf(rows);
  return (
    <p className="small dim sums">
      {drawing !== null && `${neverBegun(drawing).join(" ")} `}
      Running {durationText(busyMs)} in all{waitedMs > 0 ? `, pausing ${durationText(waitedMs)}` : ""}.
      {slot !== null && ` ${slot.step} waited longest for a free slot, ${durationText(slot.ms)}.`}
    </p>
  );
}
