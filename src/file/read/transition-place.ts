import type { Transition } from "../../core/model/definition.js";
import { renderSegments } from "./path.js";

/** The path of a transition in the workflow file. */
export function placeOfTransition({ id, from, inStep }: Transition): (string | number)[] {
  return inStep === true ? ["steps", from, "on_fail", "edge"] : ["transitions", id - 1];
}

/** `transitions[0]`, `steps.build.on_fail.edge`. */
export function placeText(transition: Transition): string {
  return renderSegments(placeOfTransition(transition));
}
