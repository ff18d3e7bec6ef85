import type { Action } from "./action.js";

/** Does nothing and gives its `output`, rendered: a place for routing, joins and tests. */
export const noopAction: Action = {
  type: "noop",
  silent: true,
  run: async ({ action }) => ({ kind: "succeeded", output: action.output ?? null }),
};
