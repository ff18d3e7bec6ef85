import type { Definition, StepDefinition, Transition } from "../../core/model/definition.js";
import { quote } from "../read/suggest.js";
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

/**
 * Steps of which no failure comes past the rung goto. A static goto always finds its target, and a goto_js beside it only
 * changes which: without a bound every failure that reaches the rung goes back until max_loops ends the run.
 */
export function stepsThatAlwaysGoBack(definition: Definition): ReadonlySet<string> {
  const visited = visitedAfterSuccess(definition);
  if (visited === "any") return new Set();
  const found = definition.steps.filter(
    ({ id, onFail }) => onFail.goto !== null && onFail.gotoMax === null && !visited.has(id),
  );
  return new Set(found.map(({ id }) => id));
}

/** Steps that a run list after a success may enter: in such a visit they do not go back, and climb on. */
function visitedAfterSuccess({ steps }: Definition): ReadonlySet<string> | "any" {
  if (steps.some(({ onSuccess }) => onSuccess.runJs !== null)) return "any";
  return new Set(steps.flatMap(({ onSuccess }) => onSuccess.run));
}

/** Ways back that take an agent's work from it: it is asked to repair what it no longer finds. */
export function lintFiles({ steps, transitions }: Definition): LintFinding[] {
  const agents = new Set(steps.flatMap(({ id, action }) => (action.type === "agent" ? [id] : [])));
  const ways = [
    ...steps.flatMap(({ id, onFail, onSuccess }) =>
      [{ on: "on_fail", ...onFail } as const, { on: "on_success", ...onSuccess } as const].map(
        ({ on, goto, gotoFiles }) => ({
          to: goto,
          files: gotoFiles,
          what: `the goto of ${quote(id)}`,
          segments: ["steps", id, on, "goto", "files"],
        }),
      ),
    ),
    ...transitions.map(({ id, to, files }) => ({
      to,
      files,
      what: `transition ${id}`,
      segments: ["transitions", id - 1, "files"],
    })),
  ];
  return ways.flatMap(({ to, files, what, segments }) => {
    if (to === null || files !== "restore" || !agents.has(to)) return [];
    const message = `${what} takes back the files of the agent ${quote(to)}, which is asked to repair what it no longer finds`;
    return [finding("RESTORES_AGENT", message, segments, "Write `files: keep`, or remove `files`.")];
  });
}
