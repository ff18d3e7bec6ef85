import type { Json } from "./json.js";

const PATH = /^[^.[\]]+(?:\.[^.[\]]+|\[\d{1,10}\])*$/;
const SEGMENT = /\[(\d+)\]|[^.[\]]+/g;

/** A name, or the index between brackets. */
type Segment = string | number;

/**
 * The value at a path such as `outputs.build.files[0].name`, or undefined. Only what the data itself holds is found:
 * no `length`, nothing inherited. Of the steps `build` and `build.v2`, `outputs.build.v2.x` means the longer one.
 */
export function lookupPath(root: Json, path: string): Json | undefined {
  if (!PATH.test(path)) return undefined;
  const segments = [...path.matchAll(SEGMENT)].map(([name, index]) =>
    index === undefined ? name : Number(index),
  );
  let at: Json | undefined = root;
  for (let from = 0; from < segments.length && at !== undefined; ) {
    const span = isKeyedByStep(segments, from) ? longestKeySpan(at, segments, from) : 1;
    at = memberOf(at, span === 1 ? segments[from]! : segments.slice(from, from + span).join("."));
    from += span;
  }
  return at;
}

/** Whether a step's id follows, as in `outputs` and `outputs.history`. It may itself contain dots. */
function isKeyedByStep(segments: readonly Segment[], from: number): boolean {
  if (segments[0] !== "outputs") return false;
  return from === 1 || (from === 2 && segments[1] === "history");
}

function longestKeySpan(at: Json, segments: readonly Segment[], from: number): number {
  const bracket = segments.findIndex((segment, index) => index >= from && typeof segment === "number");
  const end = bracket === -1 ? segments.length : bracket;
  for (let to = end; to > from + 1; to--) {
    if (memberOf(at, segments.slice(from, to).join(".")) !== undefined) return to - from;
  }
  return 1;
}

function memberOf(at: Json, segment: Segment): Json | undefined {
  if (Array.isArray(at)) return typeof segment === "number" ? (at as readonly Json[])[segment] : undefined;
  if (typeof at !== "object" || at === null || typeof segment === "number") return undefined;
  return Object.hasOwn(at, segment) ? (at as { readonly [key: string]: Json })[segment] : undefined;
}
