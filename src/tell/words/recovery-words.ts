/** "retried twice", "went back to codegen": what a rung did for a step. */
export function recoveryWords({
  rung,
  to,
  times,
}: {
  readonly rung: string;
  readonly to: string;
  readonly times: number;
}): string {
  switch (rung) {
    case "restart":
      return "started again after its worker was lost";
    case "rule":
      return "handled by a rule";
    case "retry":
      return times === 1 ? "retried once" : times === 2 ? "retried twice" : `retried ${times} times`;
    case "reset":
      return "started again from a clean workspace";
    case "remediate":
      return `repaired by ${to}`;
    case "goto":
      return `went back to ${to}`;
    case "edge":
      return `failed for good; ${to} took over`;
    case "requeue":
      return "queued for later";
    case "park":
      return "parked until its breaker closes";
    default:
      return `${rung} to ${to}`;
  }
}

/** What acted on a failure: a rung, or with `operator.hard_reset` a person. */
export function helperText(by: string): string {
  const [who, what] = by.split(".", 2);
  return who === "operator" && what !== undefined ? `by hand: ${what.replaceAll("_", " ")}` : by;
}
