import type { Definition, StepDefinition } from "../../core/model/definition.js";
import { quote } from "../read/suggest.js";
import { finding, type LintFinding } from "./lint-finding.js";

/** Steps that nothing can ever run: no start of their own, and no run list or transition of a step that runs. */
export function lintReachability(definition: Definition): LintFinding[] {
  const { steps } = definition;
  // A run_js may name any routed step.
  if (steps.some((step) => step.onFail.runJs !== null || step.onSuccess.runJs !== null)) return [];
  const reachable = reachableSteps(definition);
  return steps.flatMap((step) => {
    if (reachable.has(step.id)) return [];
    const message = `the step ${quote(step.id)} can never run: ${reasonFor(step, reachable)}`;
    return [finding("UNREACHABLE_STEP", message, ["steps", step.id])];
  });
}

function reasonFor(step: StepDefinition, reachable: ReadonlySet<string>): string {
  const lost = step.dependsOn.find((group) => !group.some((id) => reachable.has(id)));
  return lost === undefined
    ? "it waits for a run list or a transition, and no step that runs has one to it"
    : `it needs ${quote(lost.join("|"))}, which never runs`;
}

/** One pass: a step is taken up once it can run, and then releases what waits for it. */
function reachableSteps({ steps, transitions, finally: last = [] }: Definition): ReadonlySet<string> {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const targets = new Map<string, string[]>();
  for (const { from, to } of transitions) push(targets, from, to);
  /** The groups that each step is a member of. Each is counted once. */
  const groupsOf = new Map<string, { readonly owner: StepDefinition; met: boolean }[]>();
  const missing = new Map<string, number>();
  for (const step of steps) {
    missing.set(step.id, step.dependsOn.length);
    for (const members of step.dependsOn) {
      const group = { owner: step, met: false };
      for (const member of members) push(groupsOf, member, group);
    }
  }
  const reachable = new Set<string>(last);
  for (const step of steps) if (step.start === "auto" && step.dependsOn.length === 0) reachable.add(step.id);
  // A set is walked in order of insertion, what is added meanwhile included.
  for (const id of reachable) {
    const { onFail, onSuccess, undo } = byId.get(id)!;
    for (const to of [...onFail.run, ...onSuccess.run, ...(targets.get(id) ?? [])]) reachable.add(to);
    if (undo !== undefined) reachable.add(undo);
    for (const group of groupsOf.get(id) ?? []) {
      if (group.met) continue;
      group.met = true;
      const left = missing.get(group.owner.id)! - 1;
      missing.set(group.owner.id, left);
      if (left === 0 && group.owner.start === "auto") reachable.add(group.owner.id);
    }
  }
  return reachable;
}

function push<V>(lists: Map<string, V[]>, key: string, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
