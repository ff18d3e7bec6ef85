import type { DrawnNode } from "../pages/run/run-data.js";
import { NODE_HEIGHT } from "./layout.js";

const CHAR_WIDTH = 7.3;
/** Wide enough that most steps have equal width, which makes straight columns. */
const NODE_WIDTH = 132;
const CELL = 10;
const CARD_WIDTH = 226;
const CELLS_PER_ROW = 20;
/** Height of one item's row in an unfolded fan-out. */
const ITEM_HEIGHT = 20;
const MAX_ITEMS = 30;

export function isFanOut({ jobs }: DrawnNode): boolean {
  return jobs !== null && jobs.total > 1;
}

/** How many rows of cells a folded card has. If there are more items than cells, it has one bar. */
export function cellRows({ jobs }: DrawnNode): number {
  return jobs === null || jobs.cells.length === 0 ? 1 : Math.ceil(jobs.cells.length / CELLS_PER_ROW);
}

export function shownItems({ jobs }: DrawnNode): number {
  return Math.min(MAX_ITEMS, jobs?.cells.length ?? 0);
}

export function cellPlace(index: number): { readonly x: number; readonly y: number } {
  return {
    x: 10 + (index % CELLS_PER_ROW) * (CELL + 0.3),
    y: 28 + Math.floor(index / CELLS_PER_ROW) * (CELL + 1),
  };
}

export function itemPlace(index: number): number {
  return 34 + index * ITEM_HEIGHT;
}

export function sizeOf(
  node: DrawnNode,
  isUnfolded: boolean,
): { readonly width: number; readonly height: number } {
  if (node.step === null) return { width: 30, height: NODE_HEIGHT };
  const named = Math.max(NODE_WIDTH, node.step.length * CHAR_WIDTH + 74);
  if (!isFanOut(node)) return { width: named, height: NODE_HEIGHT };
  const height = isUnfolded ? itemPlace(shownItems(node)) + 26 : 28 + cellRows(node) * (CELL + 1) + 22;
  return { width: Math.max(CARD_WIDTH, named), height };
}
