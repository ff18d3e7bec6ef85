import { type ReactNode, useMemo } from "react";
import type { Drawing, DrawnEdge, TimelineData } from "../pages/run/run-data.js";
import { withMarks } from "../words/unseen.js";
import { edgePath } from "./edge-paths.js";
import { type Bend, type Layout, NODE_HEIGHT } from "./layout.js";
import { edgeKey } from "./long-edges.js";

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
