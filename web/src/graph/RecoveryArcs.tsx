import { type ReactNode, useMemo } from "react";
import type { Drawing } from "../pages/run/run-data.js";
import type { Recovery } from "../words/recoveries.js";
import { type Arc, arcOf, backArcOf } from "./edge-paths.js";
import type { Box } from "./layout.js";

/** More arcs would only hide the steps. The story has all numbers. */
const MAX_ARCS = 120;

interface ArcsProps {
  readonly recoveries: readonly Recovery[];
  readonly drawing: Drawing;
  readonly boxes: ReadonlyMap<string, Box>;
  readonly chosen: number | null;
  readonly choose: (number: number) => void;
}

/**
 * Draws recoveries in gold, each with its number: retry and rule as small loops at the step, repair and goto as arcs to
 * another step.
 */
export function RecoveryArcs({ recoveries, drawing, boxes, chosen, choose }: ArcsProps): ReactNode {
  const nameOf = useMemo(() => new Map(drawing.nodes.map(({ name, step }) => [step, name])), [drawing]);
  const arcs = useMemo(() => {
    const lanes = new Map<string, number>();
    return recoveries.slice(-MAX_ARCS).flatMap(({ number, step, to, rung }) => {
      const start = boxes.get(nameOf.get(step) ?? "");
      const end = boxes.get(nameOf.get(to) ?? "");
      if (start === undefined) return [];
      const key = end === undefined || end === start ? step : `${step} ${to}`;
      const lane = lanes.get(key) ?? 0;
      lanes.set(key, lane + 1);
      const isLoop = end === undefined || end === start;
      const all = [...boxes.values()];
      const arc = isLoop ? arcOf(start, lane, all) : backArcOf(start, end, lane, all);
      // The way back from a repair to the failed step.
      const back = isLoop || rung !== "remediate" ? null : backArcOf(end, start, lane, all, true).path;
      const label = isLoop || rung !== "goto" ? null : gotoLabel(end, arc.side, `goto ${to}`);
      return [{ number, arc, back, label, isEdge: rung === "edge" }];
    });
  }, [recoveries, boxes, nameOf]);
  return (
    <g>
      {arcs.map(({ number, arc, back, label, isEdge }) => (
        <g key={number} className={number === chosen ? "chosen" : undefined}>
          <path
            className={isEdge ? "e fail" : "e back"}
            markerEnd={isEdge ? "url(#af)" : "url(#ag)"}
            d={arc.path}
          />
          {back !== null && <path className="e back" markerEnd="url(#ag)" d={back} />}
          {label !== null && (
            <text className="elab gld" x={label.x} y={label.y} textAnchor={label.anchor}>
              {label.text}
            </text>
          )}
          {/* biome-ignore lint/a11y/useSemanticElements: there are no buttons inside a picture */}
          <g
            className={isEdge ? "bdg f" : "bdg"}
            role="button"
            tabIndex={-1}
            aria-label={`Recovery ${number}`}
            transform={`translate(${arc.x} ${arc.y})`}
            onClick={() => choose(number)}
            onKeyDown={({ key }) => key === "Enter" && choose(number)}
          >
            <circle r="9.5" />
            <text y="4">{number}</text>
          </g>
        </g>
      ))}
    </g>
  );
}

/** A label beside the target of the arc. */
function gotoLabel({ x, y, width }: Box, side: Arc["side"], text: string) {
  return side === "right"
    ? { x: x + width + 12, y: y + 4, anchor: "start" as const, text }
    : { x: x - 12, y: y + 4, anchor: "end" as const, text };
}

export function Markers(): ReactNode {
  return (
    <defs>
      {(["ag", "af", "afi"] as const).map((id) => (
        <marker
          key={id}
          id={id}
          className={`mk-${id}`}
          viewBox="0 0 8 8"
          refX="7"
          refY="4"
          markerWidth="7"
          markerHeight="7"
          orient="auto-start-reverse"
        >
          <path d="M0 .5 7.5 4 0 7.5z" />
        </marker>
      ))}
    </defs>
  );
}
