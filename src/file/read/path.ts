import type { Transition } from "../../core/model/definition.js";

/** The way from the top of a file to a value; rendered only when a problem is reported. */
export interface Path {
  readonly parent: Path | null;
  readonly key: string | number;
}

export const ROOT: Path | null = null;

export function childPath(parent: Path | null, key: string | number): Path {
  return { parent, key };
}

/** `steps.build.depends_on[0]`. */
export function renderPath(path: Path | null): string {
  return renderSegments(pathSegments(path));
}

export function pathSegments(path: Path | null): (string | number)[] {
  const segments: (string | number)[] = [];
  for (let at = path; at !== null; at = at.parent) segments.push(at.key);
  return segments.reverse();
}

export function renderSegments(segments: readonly (string | number)[]): string {
  let text = "";
  for (const segment of segments) {
    if (typeof segment === "number") text += `[${segment}]`;
    else text += text === "" ? segment : `.${segment}`;
  }
  return text;
}

/** The path of a transition in the workflow file. */
export function placeOfTransition({ id, from, inStep }: Transition): (string | number)[] {
  return inStep === true ? ["steps", from, "on_fail", "edge"] : ["transitions", id - 1];
}

/** `transitions[0]`, `steps.build.on_fail.edge`. */
export function placeText(transition: Transition): string {
  return renderSegments(placeOfTransition(transition));
}
