import type { Shape } from "../provider.js";

/** A shape that exceeds the site's limits, with the scheduler's message. */
export interface RefusedShape {
  readonly shape: Shape;
  /** The tag of the lane that it was for. Missing or null if it had none. */
  readonly lane?: string | null;
  readonly message: string;
}

const RESPECTS = [
  "nodes",
  "cpus",
  "memoryBytes",
  "gpus",
  "runtimeMs",
] as const satisfies readonly (keyof Shape)[];

/**
 * Why this shape would be refused: it is at least as large, in every respect, as a refused one. Null if no such shape
 * was tried.
 */
export function whyTooBig(shape: Shape, refused: readonly RefusedShape[]): string | null {
  const found = refused.find((each) => RESPECTS.every((respect) => shape[respect] >= each.shape[respect]));
  return found?.message ?? null;
}
