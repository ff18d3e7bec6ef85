/** Lowest first, as the engine climbs them. A test compares it with the engine's own table. */
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
