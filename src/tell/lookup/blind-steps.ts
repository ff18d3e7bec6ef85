import { actionTraits } from "../../core/model/action-traits.js";
import type { Definition } from "../../core/model/definition.js";

/**
 * Steps of which nothing says what files they read: when a later run takes them over, nobody sees that such a file has
 * changed since. A step without effects reads none.
 */
export function blindSteps({ steps }: Definition): ReadonlySet<string> {
  return new Set(
    steps
      .filter(({ action, files, reuse }) => {
        const readsUnnamed = actionTraits(action.type).hasEffects && (files?.inputs ?? []).length === 0;
        return readsUnnamed && reuse !== false;
      })
      .map(({ id }) => id),
  );
}
