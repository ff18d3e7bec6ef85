import type { Definition, FailureRule } from "../../core/model/definition.js";
import { amountOf, failureOf, RESOURCES, type Resource } from "../../core/model/resources.js";
import { quote } from "../read/suggest.js";
import { finding, type LintFinding } from "./lint-finding.js";

/** Factors of rules that raise nothing. */
export function lintScale(definition: Definition): LintFinding[] {
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
