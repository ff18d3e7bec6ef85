import type { Definition } from "../../core/model/definition.js";

/**
 * Steps of which no failure comes past the rung goto. A static goto always finds its target, and a goto_js beside it only
 * changes which: without a bound every failure that reaches the rung goes back until max_loops ends the run.
 */
export function stepsThatAlwaysGoBack(definition: Definition): ReadonlySet<string> {
  const visited = visitedAfterSuccess(definition);
  if (visited === "any") return new Set();
  const found = definition.steps.filter(
    ({ id, onFail }) => onFail.goto !== null && onFail.gotoMax === null && !visited.has(id),
  );
  return new Set(found.map(({ id }) => id));
}

/** Steps that a run list after a success may enter: in such a visit they do not go back, and climb on. */
function visitedAfterSuccess({ steps }: Definition): ReadonlySet<string> | "any" {
  if (steps.some(({ onSuccess }) => onSuccess.runJs !== null)) return "any";
  return new Set(steps.flatMap(({ onSuccess }) => onSuccess.run));
}
