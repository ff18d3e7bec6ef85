import { type Box, NODE_HEIGHT } from "./layout.js";

/** A curve, and where on it its number stands. */
export interface Arc {
  readonly path: string;
  readonly x: number;
  readonly y: number;
}

const LANE = 18;

function heightOf({ height = NODE_HEIGHT }: Box): number {
  return height;
}

/** From the bottom of one step to the top of another; beside each other, from side to side. */
export function edgePath(start: Box, end: Box): string {
  const [x1, x2] = [start.x + start.width / 2, end.x + end.width / 2];
  if (start.y === end.y) {
    const y = start.y + NODE_HEIGHT / 2;
    return x1 < x2 ? `M${start.x + start.width} ${y}H${end.x}` : `M${start.x} ${y}H${end.x + end.width}`;
  }
  const [y1, y2] = [start.y + heightOf(start), end.y];
  const bend = (y1 + y2) / 2;
  return `M${x1} ${y1}C${x1} ${bend} ${x2} ${bend} ${x2} ${y2}`;
}

/** A step that ran again: a small loop at its right side. */
export function arcOf(box: Box, lane: number): Arc {
  const { x, y, width } = box;
  const [right, reach] = [x + width, 22 + lane * LANE];
  const [top, bottom] = [y + 8, y + NODE_HEIGHT - 8];
  return {
    path: `M${right} ${top}C${right + reach} ${top - 6} ${right + reach} ${bottom + 6} ${right} ${bottom}`,
    x: right + reach * 0.8,
    y: y + NODE_HEIGHT / 2,
  };
}

/** To another step and its failure or its work with it: outside, on the left. */
export function backArcOf(start: Box, end: Box, lane: number, all: Iterable<Box> = []): Arc {
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
    const dip = y1 - 10 - lane * LANE;
    return {
      path: `M${x1} ${y1 - 6}Q${(x1 + x2) / 2} ${dip - 10} ${x2} ${y2 - 6}`,
      x: (x1 + x2) / 2,
      y: dip - 4,
    };
  }
  let left = Math.min(start.x, end.x);
  for (const { x, y } of all) if (y >= end.y && y <= start.y) left = Math.min(left, x);
  left -= out;
  return {
    path: `M${start.x} ${y1}C${left} ${y1} ${left} ${y2} ${end.x} ${y2}`,
    x: left + out * 0.25,
    y: (y1 + y2) / 2,
  };
}
