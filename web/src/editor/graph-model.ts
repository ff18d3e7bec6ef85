import { backArcOf, edgePath } from "../graph/edge-paths.js";
import { type Box, type Layout, layOut, NODE_HEIGHT } from "../graph/layout.js";
import type { Survey, SurveyEdge, TextProblem } from "./check.js";

const CHAR_WIDTH = 7.3;
const MIN_WIDTH = 132;
const MAX_NAME_CHARS = 32;

/** How an edge looks and what it is called. */
export type EdgeLook = "depends" | "failure" | "success" | "any" | "repair" | "goto" | "undo";

export interface DrawnRoute {
  readonly edge: SurveyEdge;
  readonly look: EdgeLook;
  readonly path: string;
  readonly x: number;
  readonly y: number;
  readonly words: string;
}

export function lookOf({ kind, route }: Pick<SurveyEdge, "kind" | "route">): EdgeLook {
  if (kind === "depends" || kind === "undo") return kind;
  if (route === "goto") return "goto";
  if (route === "run") return kind === "on_fail" ? "repair" : "success";
  return kind === "transition_failure" ? "failure" : kind === "transition_any" ? "any" : "success";
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

/** What a node says beside its name: `retry 2`. */
export function noteOf(label: string): string {
  const note = label.split("\n")[1] ?? "";
  return note.length > MAX_NAME_CHARS ? `${note.slice(0, MAX_NAME_CHARS - 1)}…` : note;
}

export function drawRoutes({ edges }: Survey, boxes: ReadonlyMap<string, Box>): DrawnRoute[] {
  const lanes = new Map<string, number>();
  return edges.flatMap((edge): DrawnRoute[] => {
    const [start, end] = [boxes.get(edge.from), boxes.get(edge.to)];
    if (start === undefined || end === undefined) return [];
    const look = lookOf(edge);
    const words = wordsOf(edge, look);
    if (look === "depends") return [{ edge, look, words, path: edgePath(start, end), x: 0, y: 0 }];
    const key = `${edge.from} ${edge.to}`;
    const lane = lanes.get(key) ?? 0;
    lanes.set(key, lane + 1);
    return [
      {
        edge,
        look,
        words,
        ...(end.y > start.y ? ahead(start, end, look, lane) : backArcOf(start, end, lane, boxes.values())),
      },
    ];
  });
}

/** To a step below: failures leave on the right half, successes on the left, as they are drawn by hand. */
function ahead(start: Box, end: Box, look: EdgeLook, lane: number): { path: string; x: number; y: number } {
  const share = look === "success" ? 0.25 : 0.75;
  const [x1, x2] = [start.x + start.width * share + lane * 10, end.x + end.width / 2 + lane * 10];
  const [y1, y2] = [start.y + NODE_HEIGHT, end.y];
  const bend = (y1 + y2) / 2;
  return {
    path: `M${x1} ${y1}C${x1} ${bend} ${x2} ${bend} ${x2} ${y2}`,
    x: x2 + 8,
    y: y2 - 8 - lane * 12,
  };
}

function wordsOf({ priority, condition }: SurveyEdge, look: EdgeLook): string {
  if (look === "depends") return "";
  if (look === "repair" || look === "goto" || look === "undo") return look;
  const when = condition === null ? "" : `, if ${condition}`;
  const words = `${priority === null ? "" : `${priority} · `}${look === "any" ? "any end" : look}${when}`;
  return words.length > MAX_NAME_CHARS ? `${words.slice(0, MAX_NAME_CHARS - 1)}…` : words;
}

/** By step: how many problems stand in its lines. */
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

/** The transition that a line belongs to. */
export function edgeAtLine({ edges }: Survey, line: number): SurveyEdge | null {
  const found = edges.find(
    ({ transition, lines }) =>
      transition !== null && lines !== null && line >= lines.first && line <= lines.last,
  );
  return found ?? null;
}
