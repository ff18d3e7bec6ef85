import { backArcOf, edgePath } from "../graph/edge-paths.js";
import { type Bend, type Box, edgeKey, type Layout, layOut } from "../graph/layout.js";
import type { Survey, SurveyEdge, TextProblem } from "./check.js";

const CHAR_WIDTH = 7.3;
const MIN_WIDTH = 132;
const MAX_NAME_CHARS = 32;

/** The appearance of an edge, and its kind. */
export type EdgeLook = "depends" | "failure" | "success" | "any" | "repair" | "goto" | "undo";

export interface DrawnRoute {
  readonly edge: SurveyEdge;
  readonly look: EdgeLook;
  readonly path: string;
  readonly x: number;
  readonly y: number;
  /** Which end of its text is at the given point. */
  readonly anchor: "start" | "middle" | "end";
  readonly words: string;
}

export function lookOf({ kind, route }: Pick<SurveyEdge, "kind" | "route">): EdgeLook {
  if (kind === "depends" || kind === "undo") return kind;
  if (route === "goto") return "goto";
  if (route === "run") return kind === "on_fail" ? "repair" : "success";
  return kind === "transition_failure" ? "failure" : kind === "transition_any" ? "any" : "success";
}

/** The CSS class of an edge: its look, and separately what becomes of a failure. */
export function classOf(edge: Pick<SurveyEdge, "kind" | "route" | "then">): string {
  return edge.then === null ? lookOf(edge) : `${lookOf(edge)} then-${edge.then}`;
}

export function shortName(name: string): string {
  return name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS - 1)}…` : name;
}

export function layoutOf({ nodes, edges }: Survey): Layout {
  return layOut({
    nodes: nodes.map(({ name, step, label }) => ({
      name,
      width:
        step === null
          ? 30
          : Math.max(MIN_WIDTH, (shortName(step).length + noteOf(label).length) * CHAR_WIDTH + 36),
    })),
    edges: edges.filter(({ kind }) => kind === "depends"),
    routes: edges
      .filter(({ kind }) => kind !== "depends")
      .map(({ from, to, kind }) => ({ from, to, below: kind.startsWith("transition") })),
  });
}

/** The note beside a node's name: `retry 2`. */
export function noteOf(label: string): string {
  const note = label.split("\n")[1] ?? "";
  return note.length > MAX_NAME_CHARS ? `${note.slice(0, MAX_NAME_CHARS - 1)}…` : note;
}

export function drawRoutes(
  { edges }: Survey,
  { boxes, bends }: Pick<Layout, "boxes" | "bends">,
): DrawnRoute[] {
  const lanes = new Map<string, number>();
  return edges.flatMap((edge): DrawnRoute[] => {
    const [start, end] = [boxes.get(edge.from), boxes.get(edge.to)];
    if (start === undefined || end === undefined) return [];
    const look = lookOf(edge);
    const words = wordsOf(edge, look);
    const passed = bends.get(edgeKey(edge.from, edge.to));
    if (look === "depends")
      return [{ edge, look, words, path: edgePath(start, end, passed), x: 0, y: 0, anchor: "start" }];
    const key = `${edge.from} ${edge.to}`;
    const lane = lanes.get(key) ?? 0;
    lanes.set(key, lane + 1);
    return [
      {
        edge,
        look,
        words,
        ...(end.y > start.y ? ahead(start, end, look, lane, passed) : back(start, end, lane, boxes.values())),
      },
    ];
  });
}

/** An edge to a step above or beside. */
function back(
  start: Box,
  end: Box,
  lane: number,
  all: Iterable<Box>,
): Pick<DrawnRoute, "path" | "x" | "y" | "anchor"> {
  const { path, x, y, side } = backArcOf(start, end, lane, all);
  if (side === undefined) return { path, x, y, anchor: "middle" };
  return side === "left" ? { path, x: x - 8, y, anchor: "end" } : { path, x: x + 8, y, anchor: "start" };
}

/** An edge to a step below. Failures leave on the right half and successes on the left, as in drawings by hand. */
function ahead(
  start: Box,
  end: Box,
  look: EdgeLook,
  lane: number,
  passed?: readonly Bend[],
): Pick<DrawnRoute, "path" | "x" | "y" | "anchor"> {
  const aside = lane * 10;
  const share = look === "success" ? 0.25 : 0.75;
  const middle = end.x + end.width / 2 + aside;
  const path = edgePath({ ...start, x: start.x + aside }, { ...end, x: end.x + aside }, passed, share);
  // The text is placed beside the line: at a straight section if there is one, else on the side that the line does not
  // come from.
  const [straight] = passed ?? [];
  if (straight !== undefined)
    return {
      path,
      x: straight.x + 8,
      y: (straight.top + straight.bottom) / 2 + 4 + lane * 12,
      anchor: "start",
    };
  const isLeft = start.x + start.width * share + aside > middle + NEAR_PX;
  return { path, x: middle + (isLeft ? -8 : 8), y: end.y - 8 - lane * 12, anchor: isLeft ? "end" : "start" };
}

const NEAR_PX = 40;

function wordsOf({ priority, condition, then }: SurveyEdge, look: EdgeLook): string {
  if (look === "depends") return "";
  if (look === "repair" || look === "goto" || look === "undo") return look;
  const when = condition === null ? "" : `, if ${condition}`;
  const end = then === "continue" || then === "fail" ? `, then ${then}` : "";
  const words = `${priority === null ? "" : `${priority} · `}${look === "any" ? "any end" : look}${end}${when}`;
  return words.length > MAX_NAME_CHARS ? `${words.slice(0, MAX_NAME_CHARS - 1)}…` : words;
}

/** The number of problems in the lines of each step. */
export function problemsOfSteps(
  { nodes }: Survey,
  problems: readonly TextProblem[],
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  if (problems.length === 0) return counts;
  for (const { step, lines } of nodes) {
    if (step === null || lines === null) continue;
    const own = problems.filter(({ line }) => line >= lines.first && line <= lines.last).length;
    if (own > 0) counts.set(step, own);
  }
  return counts;
}

/** The transition that contains a line. */
export function edgeAtLine({ edges }: Survey, line: number): SurveyEdge | null {
  const found = edges.find(
    ({ transition, lines }) =>
      transition !== null && lines !== null && line >= lines.first && line <= lines.last,
  );
  return found ?? null;
}
