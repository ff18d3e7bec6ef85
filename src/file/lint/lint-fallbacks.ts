import type { Definition, StepDefinition, Transition } from "../../core/model/definition.js";
import { dependencyOrder } from "../../core/model/dependency-order.js";
import { closure } from "../check/closure.js";
import { quote } from "../read/suggest.js";
import { placeOfTransition } from "../read/transition-place.js";
import { finding, type LintFinding } from "./lint-finding.js";

const MAX_NAMED = 3;

/** Transitions on failure that do not say what becomes of the steps behind the failed one, where there are such steps. */
export function lintFallbacks({ steps, transitions }: Definition): LintFinding[] {
  const silent = transitions.filter(({ on, then }) => on !== "success" && then === undefined);
  if (silent.length === 0) return [];
  const indexOf = new Map(steps.map(({ id }, index) => [id, index]));
  const { dependents } = dependencyOrder(steps);
  return silent.flatMap((transition) => {
    const [from, to] = [indexOf.get(transition.from)!, indexOf.get(transition.to)!];
    if (steps[from]!.continueOnFailure || leadsBack(transitions, transition)) return [];
    const behindTarget = closure([to], dependents);
    const skipped = dependents[from]!.filter(
      (index) => index !== to && !behindTarget.has(index) && steps[index]!.needs !== "settled",
    );
    return skipped.length === 0
      ? []
      : [
          skipsThem(
            transition,
            skipped.map((index) => steps[index]!),
          ),
        ];
  });
}

/** A step that mends and goes back: the failed one has another visit, and that one decides. */
function leadsBack(transitions: Definition["transitions"], { from, to }: Transition): boolean {
  return transitions.some((back) => back.from === to && back.to === from && back.on !== "failure");
}

function skipsThem(transition: Transition, skipped: readonly StepDefinition[]): LintFinding {
  const { from, to } = transition;
  const names = skipped.slice(0, MAX_NAMED).map(({ id }) => quote(id));
  const rest = skipped.length - names.length;
  const them = [...names, ...(rest > 0 ? [`${rest} more`] : [])].join(", ");
  const message = `when ${quote(from)} fails and ${quote(to)} completes, the run completes without ${them}`;
  const hint = `Add \`then: continue\` if ${quote(to)} stands in for ${quote(from)}, \`then: fail\` if the run has failed, or \`then: skip\` if this is meant.`;
  return finding("FALLBACK_SKIPS", message, placeOfTransition(transition), hint);
}
