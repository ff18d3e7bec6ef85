import { classify } from "../core/classify.js";
import type { Definition, StepDefinition } from "../core/definition.js";
import { dependencyOrder } from "../core/dependency-order.js";
import { ERROR_CATALOGUE, type ErrorCode } from "../core/errors.js";
import { FAILURE_CLASSES } from "./retry-fields.js";
import { quote } from "./suggest.js";

/** Something legal that is hardly meant. `segments` say where: `["steps", "build", "on_fail"]`. */
export interface LintFinding {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
  readonly segments: readonly (string | number)[];
}

/** Codes that steps may have without being errors of the catalogue. */
const OPEN_CODES = /^(?:EXIT_\d{1,3}|[1-5]\d\d|OOM|WALLTIME)$/;

export function lintDefinition(definition: Definition): LintFinding[] {
  return [
    ...smallBudgets(definition),
    ...unreachableSteps(definition),
    ...secretsInEnv(definition),
    ...definition.steps.flatMap(oddRetryCodes),
    ...definition.steps.flatMap(idleTimeouts),
  ];
}

function finding(
  code: ErrorCode,
  message: string,
  segments: LintFinding["segments"],
  hint?: string,
): LintFinding {
  return { code, message, hint: hint ?? ERROR_CATALOGUE[code].next, segments };
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

/** Routed steps that no run list names, and steps that can only follow such ones. */
function unreachableSteps({ steps }: Definition): LintFinding[] {
  if (steps.some((step) => step.onFail.runJs !== null || step.onSuccess.runJs !== null)) return [];
  const named = new Set(steps.flatMap((step) => [...step.onFail.run, ...step.onSuccess.run]));
  const unreachable = new Set<string>();
  const findings: LintFinding[] = [];
  for (const index of dependencyOrder(steps).order) {
    const step = steps[index]!;
    const neverNamed = step.start === "routed" && !named.has(step.id);
    const lostGroup = step.dependsOn.find((group) => group.every((id) => unreachable.has(id)));
    if (!neverNamed && lostGroup === undefined) continue;
    unreachable.add(step.id);
    const reason = neverNamed
      ? "it waits for a run list, and none names it"
      : `it needs ${quote(lostGroup!.join("|"))}, which never runs`;
    findings.push(
      finding("UNREACHABLE_STEP", `the step ${quote(step.id)} can never run: ${reason}`, ["steps", step.id]),
    );
  }
  return findings;
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
