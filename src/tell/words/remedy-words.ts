/** What may answer a failure, as people read it. */
const WORDS: { readonly [action: string]: string } = {
  restart: "a restart",
  park: "waiting for its breaker",
  rule: "a rule",
  retry: "a retry",
  reset: "a reset",
  remediate: "remediation",
  goto: "a goto",
  edge: "a transition",
  requeue: "the queue",
  hold: "a hold",
  fail: "the workflow, which tolerates it",
  "operator.retry": "a retry by hand",
  "operator.skip": "a skip by hand",
  "operator.complete": "completing it by hand",
  "operator.fail": "failing it by hand",
  "expired.retry": "a retry after its hold expired",
  "expired.skip": "a skip after its hold expired",
  "expired.complete": "completing it after its hold expired",
  "expired.fail": "failing it after its hold expired",
  "operator.redrive": "a redrive",
  "operator.reset": "a reset by hand",
  "operator.hard_reset": "a hard reset by hand",
  "operator.resume_from": "going back by hand",
  "operator.recover": "recover",
};

const MAX_NAMED = 2;

/** Whether it was to help: to ask somebody, or to give the job up, is no remedy. */
export function isRemedy(action: string): boolean {
  return action !== "hold" && action !== "fail" && action !== "operator.fail";
}

export function actionText(action: string): string {
  return WORDS[action] ?? action;
}

/** `a retry (7 of 12), a retry by hand (1 of 2)`: of all jobs that it acted on. */
export function rescueText(
  rescues: readonly { readonly by: string; readonly rescued: number; readonly not_rescued: number }[],
): string {
  const helped = rescues.filter(({ rescued }) => rescued > 0);
  if (helped.length === 0) return "nothing yet";
  const named = helped
    .slice(0, MAX_NAMED)
    .map(({ by, rescued, not_rescued }) => `${actionText(by)} (${rescued} of ${rescued + not_rescued})`);
  return named.join(", ");
}

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
