import type { Definition, Transition } from "../../core/model/definition.js";
import { quote } from "../read/suggest.js";
import { placeOfTransition } from "../read/transition-place.js";
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
