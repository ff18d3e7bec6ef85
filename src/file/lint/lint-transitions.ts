import type { Definition, StepDefinition, Transition } from "../../core/model/definition.js";
import { dependencyOrder } from "../../core/model/dependency-order.js";
import { closure } from "../check/step-graph.js";
import { placeOfTransition } from "../read/path.js";
import { quote } from "../read/suggest.js";
import { finding, type LintFinding } from "./lint-finding.js";

type Outcome = "success" | "failure";

/** Transitions that can never be taken. */
export function lintTransitions({ transitions }: Definition): LintFinding[] {
  const winners = winnersOf(transitions);
  return transitions.flatMap((transition) => {
    const { id, from, on } = transition;
    const blockers = outcomesOf(on).map((outcome) => {
      const winner = unconditionalWinner(winners, from, outcome);
      return winner !== undefined && winner.priority < transition.priority
        ? `transition ${winner.id} to ${quote(winner.to)} comes first and has no condition`
        : null;
    });
    if (blockers.some((blocker) => blocker === null)) return [];
    const reason = [...new Set(blockers)].join("; ");
    const message = `transition ${id} from ${quote(from)} can never be taken: ${reason}`;
    const hint = "Give it a lower priority number, give the other one a condition, or remove it.";
    return [finding("NO_EFFECT", message, placeOfTransition(transition), hint)];
  });
}

/** By source and outcome: the first transition that is always taken. */
export type Winners = ReadonlyMap<string, Transition>;

export function unconditionalWinner(
  winners: Winners,
  from: string,
  outcome: Outcome,
): Transition | undefined {
  return winners.get(keyOf(from, outcome));
}

export function winnersOf(transitions: readonly Transition[]): Winners {
  const winners = new Map<string, Transition>();
  for (const transition of transitions) {
    if (transition.when !== null) continue;
    for (const outcome of outcomesOf(transition.on)) {
      const key = keyOf(transition.from, outcome);
      const best = winners.get(key);
      if (best === undefined || transition.priority < best.priority) winners.set(key, transition);
    }
  }
  return winners;
}

function outcomesOf(on: Transition["on"]): readonly Outcome[] {
  return on === "any" ? ["success", "failure"] : [on];
}

function keyOf(from: string, outcome: Outcome): string {
  return `${outcome} ${from}`;
}

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
