import { type Bend, type Box, NODE_HEIGHT } from "./layout.js";

/** A curve, and the position of its number. */
export interface Arc {
  readonly path: string;
  readonly x: number;
  readonly y: number;
  /** The side on which the arc passes the steps between its ends. */
  readonly side?: "left" | "right";
}

const LANE = 18;

function heightOf({ height = NODE_HEIGHT }: Box): number {
  return height;
}

/**
 * A path from the bottom of one step to the top of another, around what lies between. For steps beside each other it
 * goes from side to side.
 */
export function edgePath(start: Box, end: Box, bends: readonly Bend[] = [], share = 0.5): string {
  const [x1, x2] = [start.x + start.width * share, end.x + end.width / 2];
  if (start.y === end.y) {
    const y = start.y + NODE_HEIGHT / 2;
    return x1 < x2 ? `M${start.x + start.width} ${y}H${end.x}` : `M${start.x} ${y}H${end.x + end.width}`;
  }
  let [x, y] = [x1, start.y + heightOf(start)];
  let path = `M${x} ${y}`;
  const curveTo = (nextX: number, nextY: number): void => {
    const bend = (y + nextY) / 2;
    path += `C${x} ${bend} ${nextX} ${bend} ${nextX} ${nextY}`;
    [x, y] = [nextX, nextY];
  };
  for (const { x: passed, top, bottom } of bends) {
    curveTo(passed, top);
    path += `V${bottom}`;
    y = bottom;
  }
  curveTo(x2, end.y);
  return path;
}

/** With less room, the number of a loop would cover the step beside it. */
const LOOP_ROOM = 34;

/** A small loop for a step that ran again, on its right, or on its left if only there is room. */
export function arcOf(box: Box, lane: number, all: Iterable<Box> = []): Arc {
  const { x, y, width } = box;
  const reach = 22 + lane * LANE;
  const [top, bottom] = [y + 8, y + NODE_HEIGHT - 8];
  const { left, right } = roomBeside(box, all);
  const isLeft = right < LOOP_ROOM + lane * LANE && left > right;
  const [side, out] = isLeft ? [x, x - reach] : [x + width, x + width + reach];
  return {
    path: `M${side} ${top}C${out} ${top - 6} ${out} ${bottom + 6} ${side} ${bottom}`,
    x: side + (out - side) * 0.8,
    y: y + NODE_HEIGHT / 2,
  };
}

/** The distances to the steps on both sides. */
function roomBeside(box: Box, all: Iterable<Box>): { readonly left: number; readonly right: number } {
  let [left, right] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const other of all) {
    if (other === box || other.y >= box.y + heightOf(box) || other.y + heightOf(other) <= box.y) continue;
    if (other.x >= box.x + box.width) right = Math.min(right, other.x - box.x - box.width);
    else if (other.x + other.width <= box.x) left = Math.min(left, box.x - other.x - other.width);
  }
  return { left, right };
}

/**
 * An arc to another step. Upwards it passes outside of the steps between, on the side with fewer obstacles. For steps
 * beside each other it goes above them, or below on the way back.
 */
export function backArcOf(
  start: Box,
  end: Box,
  lane: number,
  all: Iterable<Box> = [],
  isReturn = false,
): Arc {
  const out = 30 + lane * LANE;
  const [y1, y2] = [start.y + NODE_HEIGHT / 2, end.y + NODE_HEIGHT / 2];
  if (end.y > start.y) {
    const [x1, x2] = [start.x + start.width / 2, end.x + end.width / 2];
    return {
      path: edgePath(start, end),
      x: (x1 + x2) / 2 + lane * LANE,
      y: (start.y + heightOf(start) + end.y) / 2,
    };
  }
  if (start.y === end.y) {
    const isLeft = end.x < start.x;
    const [x1, x2] = isLeft ? [start.x, end.x + end.width] : [start.x + start.width, end.x];
    const away = isReturn ? -1 : 1;
    const dip = y1 - away * (10 + lane * LANE);
    return {
      path: `M${x1} ${y1 - away * 6}Q${(x1 + x2) / 2} ${dip - away * 10} ${x2} ${y2 - away * 6}`,
      x: (x1 + x2) / 2,
      y: dip - away * 4,
    };
  }
  const isRight = blocked(start, end, all, "right") < blocked(start, end, all, "left");
  const [x1, x2] = isRight ? [start.x + start.width, end.x + end.width] : [start.x, end.x];
  let far = isRight ? Math.max(x1, x2) : Math.min(x1, x2);
  for (const { x, y, width } of all)
    if (y >= end.y && y <= start.y) far = isRight ? Math.max(far, x + width) : Math.min(far, x);
  far += isRight ? out : -out;
  // Half way along, a curve with both handles at the same x is at (start + end + 6 * handle) / 8.
  const handle = (8 * far - x1 - x2) / 6;
  return {
    path: `M${x1} ${y1}C${handle} ${y1} ${handle} ${y2} ${x2} ${y2}`,
    x: far,
    y: (y1 + y2) / 2,
    side: isRight ? "right" : "left",
  };
}

/** How many steps an arc on this side would cross. */
function blocked(start: Box, end: Box, all: Iterable<Box>, side: "left" | "right"): number {
  let found = 0;
  for (const other of all)
    for (const box of [start, end])
      if (other !== box && other.y === box.y && other.x > box.x === (side === "right")) found += 1;
  return found;
}
