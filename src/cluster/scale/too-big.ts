import type { Shape } from "../provider.js";

/** A shape that the scheduler refused because it is more than the site allows, and its words. */
export interface RefusedShape {
  readonly shape: Shape;
  /** The tag of the lane that it was for; missing or null: for none. */
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

/** Why this shape would be refused: it is no smaller in any respect than one that was. Null: it has not been tried. */
export function whyTooBig(shape: Shape, refused: readonly RefusedShape[]): string | null {
  const found = refused.find((each) => RESPECTS.every((respect) => shape[respect] >= each.shape[respect]));
  return found?.message ?? null;
}
