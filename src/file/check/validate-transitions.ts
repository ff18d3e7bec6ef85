import { isSamePath } from "../../core/model/fan-out.js";
import type { TransitionDraft } from "../fields/transition-fields.js";
import { type Mending, rename } from "../read/fix.js";
import { childPath } from "../read/path.js";
import type { Findings } from "../read/problem.js";
import type { Located } from "../read/schema.js";
import { didYouMean, quote } from "../read/suggest.js";
import type { StepGraph } from "./step-graph.js";
import { renderPath } from "./validate-fan-out.js";

export interface TransitionCheck {
  readonly graph: StepGraph;
  readonly transitions: readonly TransitionDraft[];
  readonly paths: readonly (readonly string[])[];
  /** Ids of the steps that wait to be routed to. */
  readonly routed: ReadonlySet<string>;
}

/** Transitions against the steps: names, scopes and priorities. */
export function validateTransitions(check: TransitionCheck, findings: Findings): void {
  for (const transition of check.transitions) {
    checkEnds(transition, check, findings);
    checkThen(transition, check, findings);
  }
  checkPriorities(check.transitions, findings);
}

function checkEnds(transition: TransitionDraft, check: TransitionCheck, findings: Findings): undefined {
  const { from, to, on } = transition;
  const { graph, paths, routed } = check;
  const known = (name: Located<string> | undefined, key: string) => {
    const index = name && graph.indexOf.get(name.value);
    if (name !== undefined && index === undefined)
      reportUnknownStep(name, `the transition's ${key}`, graph, findings);
    return index;
  };
  const source = known(from, "`from`");
  const target = known(to, "`to`");
  if (source === undefined || target === undefined) return;
  if (source === target) {
    const message = `the transition leads from ${quote(from!.value)} to itself`;
    const hint =
      on === "success"
        ? "Use `on_success.goto` to an ancestor to repeat steps."
        : "Use `on_fail.retry` to run the same step again.";
    return findings.error({ code: "INVALID_VALUE", message, hint, at: to!.at, path: to!.path });
  }
  if (graph.doubtful[source] === 1 || graph.doubtful[target] === 1) return;
  // A routed step that depends on nothing belongs to every scope that routes to it.
  if (routed.has(to!.value) && graph.groups[target]!.length === 0) return;
  if (isSamePath(paths[source]!, paths[target]!)) return;
  if (isBroughtTo(source, paths[target]!, check)) return;
  const message = `the transition from ${quote(from!.value)} (in ${renderPath(paths[source]!)}) leaves its scope: ${quote(to!.value)} is in ${renderPath(paths[target]!)}`;
  findings.error({ code: "CROSS_SCOPE", message, at: to!.at, path: to!.path });
}

/** `continue_on_failure` has answered already: the dependents do not wait for the route. */
function checkThen(transition: TransitionDraft, { graph }: TransitionCheck, findings: Findings): void {
  const { from, then, at, path } = transition;
  const source = from && graph.indexOf.get(from.value);
  if (source === undefined || then === undefined) return;
  if (graph.entries[source]!.raw?.keys.continue_on_failure !== true) return;
  const message = `${quote(from!.value)} has \`continue_on_failure\`: the steps that depend on it run at once, so \`then: ${then}\` has no effect`;
  findings.error({
    code: "INVALID_VALUE",
    message,
    hint: "Remove one of the two.",
    at,
    path: childPath(path, "then"),
  });
}

/** Whether the routed step `source` is also at work in the scopes of this path, because a transition leads there. */
function isBroughtTo(source: number, path: readonly string[], check: TransitionCheck): boolean {
  const { graph, transitions, paths, routed } = check;
  if (graph.groups[source]!.length > 0) return false;
  return transitions.some(({ from, to }) => {
    const before = from && graph.indexOf.get(from.value);
    if (to === undefined || before === undefined || graph.indexOf.get(to.value) !== source) return false;
    return routed.has(to.value) && isSamePath(paths[before]!, path);
  });
}

function reportUnknownStep(
  { value, at, path }: Located<string>,
  what: string,
  graph: StepGraph,
  findings: Findings,
): void {
  const suggestion = findings.suggester.nearest(value, graph.indexOf.keys());
  const message = `${what} names the unknown step ${quote(value)}${didYouMean(suggestion)}`;
  const hint =
    suggestion === null
      ? "Fix the name or define the step."
      : `Rename it to \`${suggestion}\`, or define the step.`;
  findings.error({ code: "UNKNOWN_STEP", message, hint, at, path, mending: rename(value, suggestion) });
}

/** Among the transitions of one outcome the order must not be left to chance. */
function checkPriorities(transitions: readonly TransitionDraft[], findings: Findings): void {
  const firstAt = new Map<string, number>();
  const highest = highestPriorities(transitions);
  for (const [place, { from, on, priority, at, path }] of transitions.entries()) {
    if (from === undefined) continue;
    const value = priority?.value ?? place + 1;
    for (const outcome of on === "any" ? ["success", "failure"] : [on]) {
      const key = `${outcome} ${value} ${from.value}`;
      const first = firstAt.get(key);
      if (first === undefined) firstAt.set(key, place);
      else {
        const message = `the transitions ${first + 1} and ${place + 1} from ${quote(from.value)} have the same priority ${value} for the same outcome`;
        const hint = "Give each its own `priority`; the default is its position in the list.";
        const mending = takePriority(highest.get(from.value)! + 1, priority?.value);
        findings.error({
          code: "INVALID_VALUE",
          message,
          hint,
          at: priority?.at ?? at,
          path: priority?.path ?? path,
          mending,
        });
        break;
      }
    }
  }
}

/** The highest priority of each step's transitions. */
function highestPriorities(transitions: readonly TransitionDraft[]): ReadonlyMap<string, number> {
  const highest = new Map<string, number>();
  for (const [place, { from, priority }] of transitions.entries())
    if (from !== undefined)
      highest.set(from.value, Math.max(highest.get(from.value) ?? 0, priority?.value ?? place + 1));
  return highest;
}

/** One behind all others. */
function takePriority(free: number, written: number | undefined): Mending {
  return written === undefined
    ? { words: `Give it priority ${free}`, adds: `priority: ${free}` }
    : { words: `Make it ${free}`, replaces: String(written), by: String(free) };
}
