import { isBuiltInAction } from "./action-traits.js";
import type { Definition } from "./definition.js";

/** Types of steps that are functions of a program, each once. */
export function programActions({ steps }: Pick<Definition, "steps">): string[] {
  return [...new Set(steps.map(({ action }) => action.type))].filter((type) => !isBuiltInAction(type));
}
