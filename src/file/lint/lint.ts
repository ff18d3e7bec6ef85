import { ERROR_CATALOGUE } from "../../core/errors/errors.js";
import { classOfCode } from "../../core/failure/judge.js";
import { actionTraits } from "../../core/model/action-traits.js";
import { type Definition, repairsInVisit, type StepDefinition } from "../../core/model/definition.js";
import { isFailureClass, traitsOf } from "../../core/model/failure.js";
import { quote } from "../read/suggest.js";
import { finding, type LintFinding } from "./lint-finding.js";
import { lintFiles, lintGotos } from "./lint-gotos.js";
import { lintHandlers } from "./lint-handlers.js";
import { lintFallbacks, lintTransitions } from "./lint-transitions.js";
import { lintConcurrency, lintHolds, lintSchedules, lintSelfHeal } from "./lint-workflow-keys.js";

/** Codes that steps may have without being errors of the catalogue. */
const OPEN_CODES = /^(?:EXIT_\d{1,3}|[1-5]\d\d)$/;

export function lintDefinition(definition: Definition): LintFinding[] {
  return [
    ...smallBudgets(definition),
    ...secretsInEnv(definition),
    ...definition.steps.flatMap(oddRetryCodes),
    ...definition.steps.flatMap(idleTimeouts),
    ...definition.steps.flatMap(idleWorkerWishes),
    ...lintConcurrency(definition),
    ...lintHandlers(definition),
    ...lintHolds(definition),
    ...lintSchedules(definition),
    ...lintSelfHeal(definition),
    ...lintTransitions(definition),
    ...lintFallbacks(definition),
    ...lintGotos(definition),
    ...lintFiles(definition),
  ];
}

/**
 * A ladder that max_loops cuts short: one visit and the way back or, where the goto has a bound, all its visits. A retry
 * is compared with the loops before it and the retries of all visits, any other transition with the loops alone.
 */
function smallBudgets({ steps, maxLoops }: Definition): LintFinding[] {
  return steps.flatMap((step) => {
    const { retry, goto, gotoJs, gotoMax } = step.onFail;
    const retries = retry?.max ?? 0;
    const repairs = repairsInVisit(step.onFail);
    const gotos = goto === null && gotoJs === null ? 0 : (gotoMax ?? 1);
    const visits = gotoMax === null ? 1 : gotos + 1;
    const needed = Math.max(
      retries === 0 ? 0 : visits * retries + gotos * (repairs + 1),
      visits * repairs + gotos,
    );
    if (needed <= maxLoops) return [];
    const parts = [
      ...(retries > 0 ? [`${retries * visits} retries`] : []),
      ...(repairs > 0 ? [visits * repairs === 1 ? "a repair" : `${visits * repairs} repairs`] : []),
      ...(gotos > 0 ? [gotos === 1 ? "a goto" : `${gotos} gotos`] : []),
    ];
    const visited = visits === 1 ? "one visit" : `${visits} visits`;
    const message = `${visited} of ${quote(step.id)} may need ${needed} transitions (${parts.join(", ")}), but max_loops is ${maxLoops}`;
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
    if (isFailureClass(name)) return [];
    const segments = ["steps", step.id, "on_fail", "retry", "on", place];
    const known = Object.hasOwn(ERROR_CATALOGUE, name) || OPEN_CODES.test(name);
    if (!known) {
      const message = `${quote(name)} is neither a class nor a code of Daruma`;
      return [
        finding(
          "NO_EFFECT",
          message,
          segments,
          "It matches only if the step reports this code in $DARUMA_FAILURE.",
        ),
      ];
    }
    const failureClass = classOfCode(name);
    if (traitsOf(failureClass).mayPass) return [];
    const message = `retry.on names ${quote(name)}, but ${failureClass} errors are not worth a retry`;
    return [finding("RETRY_OF_DETERMINISTIC", message, segments)];
  });
}

function idleTimeouts(step: StepDefinition): LintFinding[] {
  const { timeoutMs, idleTimeoutMs } = step;
  if (timeoutMs === null || idleTimeoutMs === null || idleTimeoutMs < timeoutMs) return [];
  const message = `idle_timeout_ms (${idleTimeoutMs}) can never be reached before timeout_ms (${timeoutMs})`;
  return [finding("NO_EFFECT", message, ["steps", step.id, "idle_timeout_ms"])];
}

/** There is no choice of workers for the next attempt. */
function idleWorkerWishes(step: StepDefinition): LintFinding[] {
  if (step.onFail.retry?.onWorker !== "same") return [];
  const why = whyNoChoice(step);
  if (why === null) return [];
  const segments = ["steps", step.id, "on_fail", "retry", "on_worker"];
  return [finding("NO_EFFECT", `\`on_worker: same\` has no effect: ${why}`, segments)];
}

function whyNoChoice({ action, usesWorkspace, resources }: StepDefinition): string | null {
  if (actionTraits(action.type).doneBy !== "worker") return `no worker runs steps of type ${action.type}`;
  if (usesWorkspace) return "steps of the workspace always run where the workspace is";
  if ((resources?.nodes ?? 1) > 1) return "a step with num_nodes gets an allocation of its own each time";
  return null;
}
