import { type Box, type Layout, NODE_HEIGHT } from "./layout.js";

/** The view of a graph: where its origin is in the window, and its scale. */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

const LEAST_SCALE = 0.03;
const MOST_SCALE = 3;
const MARGIN = 24;

/** Zooms around a point, which keeps its position. */
export function zoomAt(view: View, factor: number, point: { readonly x: number; readonly y: number }): View {
  const scale = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, view.scale * factor));
  const ratio = scale / view.scale;
  return { scale, x: point.x - (point.x - view.x) * ratio, y: point.y - (point.y - view.y) * ratio };
}

/** Fits the whole layout, but never enlarges it. */
export function fitted(layout: Pick<Layout, "width" | "height">, size: Size): View {
  const across = (size.width - 2 * MARGIN) / Math.max(1, layout.width);
  const down = (size.height - 2 * MARGIN) / Math.max(1, layout.height);
  const scale = Math.min(1, Math.max(LEAST_SCALE, Math.min(across, down)));
  return {
    scale,
    x: (size.width - layout.width * scale) / 2,
    y: Math.max(MARGIN, (size.height - layout.height * scale) / 2),
  };
}

/** Centres one box. */
export function centre({ x, y, width, height }: Box, size: Size, scale: number): View {
  return {
    scale,
    x: size.width / 2 - (x + width / 2) * scale,
    y: size.height / 2 - (y + (height ?? NODE_HEIGHT) / 2) * scale,
  };
}

/** Whether a part of the box is in the window or close to it. */
export function isSeen(
  { x, y, width, height = NODE_HEIGHT }: Box,
  view: View,
  size: Size,
  margin = 80,
): boolean {
  const left = x * view.scale + view.x;
  const top = y * view.scale + view.y;
  return (
    left < size.width + margin &&
    left + width * view.scale > -margin &&
    top < size.height + margin &&
    top + height * view.scale > -margin
  );
}

/** Limit for nodes in the DOM. */
export const MAX_NODES = 400;
/** In a larger graph, names are hidden when they would be too small to read. */
const MANY_NODES = 300;
const LEAST_NAMED_SCALE = 0.6;

export function showsNames(nodes: number, scale: number): boolean {
  return nodes <= MANY_NODES || scale >= LEAST_NAMED_SCALE;
}

/** The next node for an arrow key: up and down along edges, sideways within a row. */
export function neighbour(
  layout: Layout,
  edges: readonly { readonly from: string; readonly to: string }[],
  from: string,
  key: "up" | "down" | "left" | "right",
): string | null {
  const box = layout.boxes.get(from);
  if (box === undefined) return null;
  const near = (names: Iterable<string>): string | null => {
    let best: { readonly name: string; readonly far: number } | null = null;
    for (const name of names) {
      const other = layout.boxes.get(name);
      if (other === undefined || name === from) continue;
      const far = Math.abs(other.x + other.width / 2 - box.x - box.width / 2);
      if (best === null || far < best.far) best = { name, far };
    }
    return best?.name ?? null;
  };
  if (key === "up") return near(edges.filter(({ to }) => to === from).map(({ from: above }) => above));
  if (key === "down") return near(edges.filter((edge) => edge.from === from).map(({ to }) => to));
  const row: string[] = [];
  for (const [name, other] of layout.boxes)
    if (other.y === box.y && (key === "left" ? other.x < box.x : other.x > box.x)) row.push(name);
  return near(row);
}
