import type { Definition, StepDefinition, Transition } from "../../core/model/definition.js";
import { quote } from "../read/suggest.js";
import { stepsThatAlwaysGoBack } from "./endless-gotos.js";
import { finding, type LintFinding } from "./lint-finding.js";
import { hasCatchAll } from "./lint-handlers.js";
import { unconditionalWinner, type Winners, winnersOf } from "./lint-transitions.js";

/** Rungs that a goto without bound hides, and bounds that bound nothing. */
export function lintGotos(definition: Definition): LintFinding[] {
  return [...definition.steps.flatMap(idleBounds), ...hiddenRungs(definition)];
}

function idleBounds(step: StepDefinition): LintFinding[] {
  return [...idleRunMax(step), ...idleGotoMax(step)];
}

function idleRunMax({ id, onFail: { run, runJs, runMax } }: StepDefinition): LintFinding[] {
  if (runMax === undefined || run.length > 0 || runJs !== null) return [];
  const message = `\`run_max\` of ${quote(id)} has no effect: there is neither \`run\` nor \`run_js\``;
  return [finding("NO_EFFECT", message, ["steps", id, "on_fail", "run_max"], "Add a repair, or remove it.")];
}

function idleGotoMax(step: StepDefinition): LintFinding[] {
  return (["on_fail", "on_success"] as const).flatMap((key) => {
    const { goto, gotoJs, gotoMax } = key === "on_fail" ? step.onFail : step.onSuccess;
    if (gotoMax === null || goto !== null || gotoJs !== null) return [];
    const message = `\`goto_max\` of ${quote(step.id)} has no effect: there is neither \`goto\` nor \`goto_js\``;
    return [finding("NO_EFFECT", message, ["steps", step.id, key, "goto_max"], "Add a goto, or remove it.")];
  });
}

/** What a bound would not bring to light either is left to the other findings. */
function hiddenRungs(definition: Definition): LintFinding[] {
  const { steps, queue, unhandled } = definition;
  const goBack = stepsThatAlwaysGoBack(definition);
  const winners = winnersOf(definition.transitions);
  const edges = edgesOnFailure(definition.transitions, winners);
  const catchAlls = new Set(definition.failureHandlers.filter(hasCatchAll).map(({ name }) => name));
  return steps.flatMap((step) => {
    const { goto } = step.onFail;
    if (goto === null || !goBack.has(step.id)) return [];
    const own = edges.get(step.id) ?? [];
    const routed = unconditionalWinner(winners, step.id, "failure") !== undefined;
    const answered = step.failureHandler !== null && catchAlls.has(step.failureHandler);
    const hidden = [
      ...(own.length > 0 ? [`edge (${own.map(describeEdge).join(", ")})`] : []),
      ...(queue !== null && !routed ? ["requeue (`queue`)"] : []),
      ...(unhandled === "hold" && !routed && !answered && !step.continueOnFailure
        ? ["hold (`unhandled: hold`)"]
        : []),
    ];
    const hint = `Bound it: \`goto: { step: ${goto}, max: 1 }\`.`;
    return hidden.map((rung) =>
      finding(
        "UNREACHABLE_RUNG",
        `no failure of ${quote(step.id)} reaches the rung ${rung}: its goto to ${quote(goto)} goes back every time, until max_loops`,
        ["steps", step.id, "on_fail", "goto"],
        hint,
      ),
    );
  });
}

function describeEdge({ id, to }: Transition): string {
  return `transition ${id} to ${quote(to)}`;
}

/** The transitions that a failure may take, by source. Those behind one that is always taken are left out. */
function edgesOnFailure(
  transitions: readonly Transition[],
  winners: Winners,
): ReadonlyMap<string, readonly Transition[]> {
  const edges = new Map<string, Transition[]>();
  for (const transition of transitions) {
    const { from, on, priority } = transition;
    if (on === "success") continue;
    const winner = unconditionalWinner(winners, from, "failure");
    if (winner !== undefined && winner.priority < priority) continue;
    edges.set(from, [...(edges.get(from) ?? []), transition]);
  }
  return edges;
}
