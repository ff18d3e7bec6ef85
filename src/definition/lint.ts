import { classify } from "../core/classify.js";
import type { Definition, StepDefinition } from "../core/definition.js";
import { ERROR_CATALOGUE } from "../core/errors.js";
import { finding, type LintFinding } from "./lint-finding.js";
import { lintHandlers } from "./lint-handlers.js";
import { lintReachability } from "./lint-reachability.js";
import { lintSelfHeal } from "./lint-self-heal.js";
import { lintTransitions } from "./lint-transitions.js";
import { FAILURE_CLASSES } from "./retry-fields.js";
import { quote } from "./suggest.js";

/** Codes that steps may have without being errors of the catalogue. */
const OPEN_CODES = /^(?:EXIT_\d{1,3}|[1-5]\d\d|OOM|WALLTIME)$/;

export function lintDefinition(definition: Definition): LintFinding[] {
  return [
    ...smallBudgets(definition),
    ...lintReachability(definition),
    ...secretsInEnv(definition),
    ...definition.steps.flatMap(oddRetryCodes),
    ...definition.steps.flatMap(idleTimeouts),
    ...lintHandlers(definition),
    ...lintSelfHeal(definition),
    ...lintTransitions(definition),
  ];
}

/** Retries count towards max_loops too: a policy larger than the budget is cut short by LOOP_BUDGET_EXCEEDED. */
function smallBudgets({ steps, maxLoops }: Definition): LintFinding[] {
  return steps.flatMap((step) => {
    const { retry, run, runJs, goto, gotoJs } = step.onFail;
    const retries = retry?.max ?? 0;
    const repairs = run.length > 0 || runJs !== null ? 1 : 0;
    const jumps = goto !== null || gotoJs !== null ? 1 : 0;
    const needed = retries + repairs + jumps;
    if (needed <= maxLoops || needed === 0) return [];
    const parts = [`${retries} retries`, ...(repairs ? ["a repair"] : []), ...(jumps ? ["a goto"] : [])].join(
      ", ",
    );
    const message = `one visit of ${quote(step.id)} may need ${needed} transitions (${parts}), but max_loops is ${maxLoops}`;
    return [finding("BUDGET_TOO_SMALL", message, ["steps", step.id, "on_fail"])];
  });
}

function secretsInEnv({ secrets, env, steps }: Definition): LintFinding[] {
  const places: { env: Definition["env"]; segments: string[] }[] = [{ env, segments: ["env"] }];
  for (const step of steps)
    if (Object.keys(step.env).length > 0) places.push({ env: step.env, segments: ["steps", step.id, "env"] });
  const secret = new Set(secrets);
  return places.flatMap((place) =>
    Object.keys(place.env)
      .filter((name) => secret.has(name))
      .map((name) =>
        finding("SECRET_IN_ENV", `the secret ${quote(name)} is also set in \`env\``, [
          ...place.segments,
          name,
        ]),
      ),
  );
}

function oddRetryCodes(step: StepDefinition): LintFinding[] {
  return (step.onFail.retry?.on ?? []).flatMap((name, place) => {
    if ((FAILURE_CLASSES as readonly string[]).includes(name)) return [];
    const segments = ["steps", step.id, "on_fail", "retry", "on", place];
    const status = /^[1-5]\d\d$/.test(name) ? Number(name) : null;
    const known = Object.hasOwn(ERROR_CATALOGUE, name) || OPEN_CODES.test(name);
    if (!known) {
      const message = `${quote(name)} is neither a class nor a code that Daruma gives`;
      return [
        finding(
          "NO_EFFECT",
          message,
          segments,
          "It matches only if the step itself gives this code in $DARUMA_FAILURE.",
        ),
      ];
    }
    const { class: failureClass } = classify(
      status === null ? { message: "", code: name } : { message: "", httpStatus: status },
    );
    if (!failureClass.startsWith("deterministic_")) return [];
    const message = `retry.on names ${quote(name)}, though ${failureClass} errors are not worth a retry`;
    return [finding("RETRY_OF_DETERMINISTIC", message, segments)];
  });
}

function idleTimeouts(step: StepDefinition): LintFinding[] {
  const { timeoutMs, idleTimeoutMs } = step;
  if (timeoutMs === null || idleTimeoutMs === null || idleTimeoutMs < timeoutMs) return [];
  const message = `idle_timeout_ms (${idleTimeoutMs}) can never be reached before timeout_ms (${timeoutMs})`;
  return [finding("NO_EFFECT", message, ["steps", step.id, "idle_timeout_ms"])];
}
