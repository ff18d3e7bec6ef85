import { actionTraits } from "../../core/model/action-traits.js";
import type { Definition, FailureHandler, FailureRule, StepDefinition } from "../../core/model/definition.js";
import { amountOf, failureOf, RESOURCES, type Resource } from "../../core/model/resources.js";
import { quote } from "../read/suggest.js";
import { finding, type LintFinding } from "./lint-finding.js";

/** The only code that an action without a process gives: that of a timeout. */
const TIMEOUT_CODE = 124;

export function lintHandlers(definition: Definition): LintFinding[] {
  return [
    ...unusedHandlers(definition),
    ...idleRules(definition),
    ...deafHandlers(definition),
    ...lintScale(definition),
    ...idleHold(definition),
  ];
}

function unusedHandlers({ failureHandlers, steps }: Definition): LintFinding[] {
  const used = new Set(steps.map((step) => step.failureHandler));
  return failureHandlers.flatMap(({ name }, place) => {
    if (used.has(name)) return [];
    const hint = `Give a step \`failure_handler: ${name}\`, or remove the handler.`;
    const message = `no step uses the failure handler ${quote(name)}`;
    return [finding("NO_EFFECT", message, ["failure_handlers", place], hint)];
  });
}

/** Parts of rules that change nothing. */
function idleRules({ failureHandlers }: Definition): LintFinding[] {
  return failureHandlers.flatMap(({ rules }, handler) =>
    rules.flatMap((rule, place) => {
      const segments = ["failure_handlers", handler, "rules", place];
      const findings: LintFinding[] = [];
      if (rule.exitCodes.includes(0)) {
        const message = "the exit code 0 is a success, so no rule applies";
        findings.push(finding("NO_EFFECT", message, [...segments, "exit_codes"]));
      }
      if (rule.matchAll && rule.exitCodes.length > 0) {
        const message = "`exit_codes` adds nothing to `match_all_exit_codes` of the same rule";
        findings.push(finding("NO_EFFECT", message, [...segments, "exit_codes"]));
      }
      if (rule.maxAttempts === 1 && rule.recoveryScript !== null) {
        const message = "the recovery script never runs: the rule allows one attempt in all, the first";
        const hint = "Raise max_retries (attempts in all) to 2 or more.";
        findings.push(finding("NO_EFFECT", message, [...segments, "recovery_script"], hint));
      }
      return findings;
    }),
  );
}

/** A handler on a step whose failures have none of the codes that it answers. */
function deafHandlers({ failureHandlers, steps }: Definition): LintFinding[] {
  const handlerOf = new Map(failureHandlers.map((handler) => [handler.name, handler]));
  return steps.flatMap((step) => {
    const handler = step.failureHandler === null ? undefined : handlerOf.get(step.failureHandler);
    if (handler === undefined || actionTraits(step.action.type).startsProcess) return [];
    if (handler.rules.some((rule) => rule.matchAll || rule.exitCodes.includes(TIMEOUT_CODE))) return [];
    const message = `no rule of ${quote(handler.name)} can handle ${quote(step.id)}: a ${step.action.type} step has no exit codes`;
    const hint =
      "Add a rule with `match_all_exit_codes: true` (or 124 for its timeout), or use on_fail.retry.";
    return [finding("NO_EFFECT", message, ["steps", step.id, "failure_handler"], hint)];
  });
}

/** `unhandled: hold` in a file where something else answers every failure. */
function idleHold({ unhandled, failureHandlers, steps, transitions }: Definition): LintFinding[] {
  if (unhandled !== "hold") return [];
  const catchAlls = new Set(failureHandlers.filter(hasCatchAll).map((handler) => handler.name));
  const routed = new Set(
    transitions.flatMap(({ from, on, when }) => (on !== "success" && when === null ? [from] : [])),
  );
  const mayHold = (step: StepDefinition) =>
    !(step.failureHandler !== null && catchAlls.has(step.failureHandler)) && !routed.has(step.id);
  if (steps.some(mayHold)) return [];
  const message = "`unhandled: hold` never applies: something else handles every failure of every step";
  return [finding("NO_EFFECT", message, ["unhandled"])];
}

export function hasCatchAll({ rules }: FailureHandler): boolean {
  return rules.some((rule) => rule.matchAll);
}

/** Factors of rules that raise nothing. */
function lintScale(definition: Definition): LintFinding[] {
  return RESOURCES.flatMap((resource) => [
    ...unreachedFactors(definition, resource),
    ...factorsWithoutAmount(definition, resource),
  ]);
}

function unreachedFactors({ failureHandlers }: Definition, resource: Resource): LintFinding[] {
  const { code, exitCode } = failureOf(resource);
  return failureHandlers.flatMap(({ rules }, handler) =>
    rules.flatMap((rule, place) => {
      if (rule.scale?.[resource] === undefined || reaches(rule, exitCode)) return [];
      const message = `the rule does not handle exit code ${exitCode} (${code}), so \`${resource}\` is never raised`;
      const segments = ["failure_handlers", handler, "rules", place, "scale", resource];
      return [finding("NO_EFFECT", message, segments, `Add ${exitCode} to its exit_codes.`)];
    }),
  );
}

function factorsWithoutAmount({ failureHandlers, steps }: Definition, resource: Resource): LintFinding[] {
  const { exitCode } = failureOf(resource);
  const scaling = new Set(
    failureHandlers.flatMap(({ name, rules }) =>
      rules.some((rule) => rule.scale?.[resource] !== undefined && reaches(rule, exitCode)) ? [name] : [],
    ),
  );
  return steps.flatMap(({ id, failureHandler, resources }) => {
    if (failureHandler === null || !scaling.has(failureHandler)) return [];
    if (amountOf(resources, resource) !== null) return [];
    const message = `${quote(failureHandler)} cannot raise the ${resource} of ${quote(id)}, which asks for none`;
    const hint = `Give the step \`resource_requirements: { ${resource}: ... }\`.`;
    return [finding("NO_EFFECT", message, ["steps", id, "failure_handler"], hint)];
  });
}

function reaches({ exitCodes, matchAll }: FailureRule, exitCode: number): boolean {
  return matchAll || exitCodes.includes(exitCode);
}
