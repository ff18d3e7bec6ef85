import type { Definition } from "../../src/core/model/definition.js";
import type { LoggedEvent } from "../../src/core/model/events.js";
import * as attempts from "./invariants-attempts.js";
import * as ending from "./invariants-ending.js";
import * as heal from "./invariants-heal.js";
import * as ladder from "./invariants-ladder.js";
import * as park from "./invariants-park.js";
import * as routing from "./invariants-routing.js";
import * as then from "./invariants-then.js";
import * as tree from "./invariants-tree.js";
import * as undo from "./invariants-undo.js";

/** What a log must never show: a sentence that says where it does, or null. The log begins with `run.created`. */
export type Invariant = (log: readonly LoggedEvent[], definition: Definition) => string | null;

export const INVARIANTS: { readonly [name: string]: Invariant } = {
  ...attempts,
  ...routing,
  ...ladder,
  ...heal,
  ...park,
  ...tree,
  ...ending,
  ...undo,
  ...then,
};

/** Every violation in a log, each with the name of its invariant. */
export function findViolations(log: readonly LoggedEvent[], definition: Definition): string[] {
  return Object.entries(INVARIANTS).flatMap(([name, invariant]) => {
    const violation = invariant(log, definition);
    return violation === null ? [] : [`${name}: ${violation}`];
  });
}
