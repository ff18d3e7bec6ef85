import type { RungName } from "./events.js";

/** Whether a failure is `_last_error` once this rung has answered it: not where the attempt is only repeated, or given up. */
export const IS_LAST_ERROR: Readonly<Record<RungName, boolean>> = {
  stop: false,
  restart: false,
  park: false,
  rule: false,
  retry: false,
  reset: false,
  remediate: true,
  goto: true,
  edge: true,
  requeue: true,
  hold: true,
  fail: true,
};
