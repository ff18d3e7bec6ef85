import type { Definition, StepDefinition, Transition } from "../../core/model/definition.js";
import { renderCondition } from "./render-condition.js";

/** Sentences that say when each transition is taken, by its id. */
export function takenWhen({ steps, transitions }: Definition): ReadonlyMap<number, string> {
  const stepOf = new Map(steps.map((step) => [step.id, step]));
  const ofStep = new Map<string, Transition[]>();
  for (const transition of transitions) {
    const others = ofStep.get(transition.from);
    if (others === undefined) ofStep.set(transition.from, [transition]);
    else others.push(transition);
  }
  return new Map(
    transitions.map((transition) => [
      transition.id,
      sentences(transition, stepOf.get(transition.from), ofStep.get(transition.from)!),
    ]),
  );
}

function sentences(
  transition: Transition,
  step: StepDefinition | undefined,
  all: readonly Transition[],
): string {
  const { from, on, when } = transition;
  const ends = { success: "completes", failure: "fails", any: "completes or fails" }[on];
  const before = on === "success" || step === undefined ? [] : triedBefore(step);
  const help =
    before.length === 0
      ? ""
      : on === "any"
        ? ` (a failure only after ${list(before)})`
        : `, after ${list(before)}`;
  const condition = when === null ? "" : `, if ${renderCondition(when)}`;
  const first = all
    .filter((other) => isTriedFirst(other, transition))
    .sort((one, other) => one.priority - other.priority)
    .map(({ to: target }) => target);
  return [
    `When ${from} ${ends}${help}${condition}.`,
    ...(first.length === 0
      ? []
      : [
          `${first.length === 1 ? "The edge" : "The edges"} to ${list(first.slice(0, MAX_NAMED))}${first.length > MAX_NAMED ? " and others" : ""} ${first.length === 1 ? "is" : "are"} tried before it.`,
        ]),
    ...(on === "success" ? [] : [endOf(transition)]),
  ].join(" ");
}

/** What becomes of the failure, and of the steps behind it. */
function endOf({ from, to, then = "skip" }: Transition): string {
  switch (then) {
    case "skip":
      return `If ${to} completes, the failure is handled, and the steps that depend on ${from} are skipped.`;
    case "continue":
      return `If ${to} completes, it stands in for ${from}: the steps that depend on ${from} run with its output.`;
    case "fail":
      return `The run fails, also if ${to} completes.`;
  }
}

const MAX_NAMED = 3;

function isTriedFirst(other: Transition, { id, on, priority }: Transition): boolean {
  const meet = other.on === on || other.on === "any" || on === "any";
  return other.id !== id && meet && other.priority < priority;
}

/** What the ladder tries before edges, as far as the step asks for it. */
function triedBefore({ onFail, failureHandler }: StepDefinition): string[] {
  const { retry, run, runJs, runMax, goto, gotoJs, gotoMax } = onFail;
  const max = retry?.max ?? 0;
  const atMost = (bound: number | null | undefined) => (bound == null ? "" : `, ${bound} at most`);
  return [
    ...(failureHandler === null ? [] : [`the rules of ${failureHandler}`]),
    ...(max === 0 ? [] : [max === 1 ? "1 retry" : `${max} retries`]),
    ...(run.length === 0 && runJs === null
      ? []
      : [`the repair${run.length === 0 ? "" : ` by ${list(run)}`}${atMost(runMax)}`]),
    ...(goto === null && gotoJs === null
      ? []
      : [`the goto${goto === null ? "" : ` to ${goto}`}${atMost(gotoMax)}`]),
  ];
}

function list(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
