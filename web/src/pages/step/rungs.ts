/** All rungs, lowest first, in the order of the engine. A test compares them with the engine's own table. */
export const RUNGS = [
  "stop",
  "restart",
  "park",
  "rule",
  "retry",
  "reset",
  "remediate",
  "goto",
  "edge",
  "requeue",
  "hold",
  "fail",
] as const;
