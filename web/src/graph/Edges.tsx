import { type ReactNode, useMemo } from "react";
import type { Drawing, DrawnEdge, TimelineData } from "../pages/run/run-data.js";
import type { Recovery } from "../words/recoveries.js";
import { withMarks } from "../words/unseen.js";
import { type Arc, arcOf, backArcOf, edgePath } from "./edge-paths.js";
import { type Bend, type Box, edgeKey, type Layout, NODE_HEIGHT } from "./layout.js";

interface EdgesProps {
  readonly drawing: Drawing;
  readonly layout: Layout;
  readonly candidates: TimelineData["candidates"];
  readonly at: number | null;
  /** Also draws edges that the run has not taken. */
  readonly all: boolean;
  readonly isNamed: boolean;
}

const NOT_BEGUN: ReadonlySet<string | null> = new Set(["blocked", "skipped", "canceled", null]);

/** Draws dependencies as one shape per look. Routes are drawn one by one, with their labels. */
export function Edges({ drawing, layout, candidates, at, all, isNamed }: EdgesProps): ReactNode {
  const { boxes, bends } = layout;
  const statusOf = useMemo(
    () =>
      new Map(drawing.nodes.map(({ name, status, step }) => [name, step === null ? "completed" : status])),
    [drawing],
  );
  const stepOf = useMemo(() => new Map(drawing.nodes.map(({ name, step }) => [name, step])), [drawing]);
  const depends = useMemo(() => {
    const paths = { took: "", pale: "", skip: "" };
    for (const { from, to, kind } of drawing.edges) {
      const [start, end] = [boxes.get(from), boxes.get(to)];
      if (kind !== "depends" || start === undefined || end === undefined) continue;
      const target = statusOf.get(to) ?? null;
      const look = target === "skipped" ? "skip" : NOT_BEGUN.has(target) ? "pale" : "took";
      paths[look] += edgePath(start, end, bends.get(edgeKey(from, to)));
    }
    return paths;
  }, [drawing, boxes, bends, statusOf]);
  const looked = new Map(
    candidates.filter(({ seq }) => at === null || seq <= at).map((each) => [`${each.step} ${each.to}`, each]),
  );
  return (
    <g>
      <path className="e" d={depends.pale} />
      <path className="e skip" d={depends.skip} />
      <path className="e took" d={depends.took} />
      {drawing.edges.map((edge) => {
        const candidate = looked.get(`${stepOf.get(edge.from)} ${stepOf.get(edge.to)}`);
        const isUndone = edge.kind === "undo" && !NOT_BEGUN.has(statusOf.get(edge.to) ?? null);
        return edge.kind === "depends" || !(all || isUndone || candidate !== undefined) ? null : (
          <Route
            key={edge.id}
            edge={edge}
            candidate={candidate}
            boxes={boxes}
            bends={bends.get(edgeKey(edge.from, edge.to))}
            isNamed={isNamed}
            isUndone={isUndone}
          />
        );
      })}
    </g>
  );
}

interface RouteProps {
  readonly edge: DrawnEdge;
  readonly candidate: TimelineData["candidates"][number] | undefined;
  readonly boxes: Layout["boxes"];
  readonly bends: readonly Bend[] | undefined;
  readonly isNamed: boolean;
  /** For an undo edge: the undo was carried out. */
  readonly isUndone: boolean;
}

/** A route. Failure edges are red and dashed. One that was considered but not taken is pale and says why. */
function Route({ edge, candidate, boxes, bends, isNamed, isUndone }: RouteProps): ReactNode {
  const [start, end] = [boxes.get(edge.from), boxes.get(edge.to)];
  if (start === undefined || end === undefined || end.y < start.y) return null;
  const { kind, priority, condition, label, then } = edge;
  const isFailure = kind === "on_fail" || kind === "transition_failure";
  const outcome = then === "continue" || then === "fail" ? ` then-${then}` : "";
  const isTaken = isUndone || (candidate !== undefined && candidate.taken > 0);
  const isPassed = candidate !== undefined && !isTaken && candidate.why !== "";
  const when = `${priority ?? ""}${priority === null ? "" : " · "}`;
  const words = withMarks(
    isPassed
      ? `${when}no: ${candidate.why}`
      : `${when}${condition ?? (kind === "undo" ? "undo" : isFailure ? "failure" : "success")}`,
  );
  const shown = words.length > 44 ? `${words.slice(0, 43)}…` : words;
  const x = (start.x + start.width / 2 + end.x + end.width / 2) / 2;
  const isBeside = start.y === end.y;
  const y = isBeside ? start.y + 6 : (start.y + (start.height ?? NODE_HEIGHT) + end.y) / 2 + 4;
  return (
    <g>
      <path
        className={`e${isFailure ? ` fail${outcome}` : isUndone ? " took" : ""}${isTaken ? "" : " idle"}`}
        markerEnd={isFailure ? `url(#${isTaken ? "af" : "afi"})` : undefined}
        d={edgePath(start, end, bends)}
      >
        <title>{label === null ? words : withMarks(label)}</title>
      </path>
      {isNamed && (candidate !== undefined || kind.startsWith("transition")) && (
        <text className={isTaken && isFailure ? "elab f" : "elab"} x={x + 16} y={y}>
          <title>{words}</title>
          {shown}
        </text>
      )}
    </g>
  );
}

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
