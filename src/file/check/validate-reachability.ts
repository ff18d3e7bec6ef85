import type { Definition, StepDefinition } from "../../core/model/definition.js";
import type { StepEntry } from "../fields/step-entries.js";
import type { Findings } from "../read/problem.js";
import { quote } from "../read/suggest.js";

/**
 * Steps that nothing can ever start are errors: their run would end as if they had never been asked for. Where the file
 * itself says `start: routed`, a person may still start the step, and a warning is enough. It is asked of a file that is
 * right otherwise, because behind a misspelt name everything looks lost.
 */
export function validateReachability(
  definition: Definition,
  entries: readonly StepEntry[],
  findings: Findings,
): void {
  const { steps } = definition;
  // A run_js may name any routed step.
  if (steps.some((step) => step.onFail.runJs !== null || step.onSuccess.runJs !== null)) return;
  const byItself = reachableSteps(definition, []);
  if (byItself.size === steps.length) return;
  const stepOf = new Map(steps.map((step) => [step.id, step]));
  const lost = entries.filter(({ id }) => !byItself.has(id));
  const byHand = lost.filter(({ raw }) => raw?.keys.start === "routed").map(({ id }) => id);
  const withHelp = reachableSteps(definition, byHand);
  for (const { id, at, path } of lost) {
    const step = stepOf.get(id)!;
    const code = "UNREACHABLE_STEP";
    if (withHelp.has(id)) {
      const message = `the step ${quote(id)} never runs by itself: ${whyLost(step, byItself)}`;
      findings.warn({ code, message, at, path });
    } else {
      const message = `the step ${quote(id)} can never run: ${whyLost(step, withHelp)}`;
      findings.error({ code, message, hint: wayOut(step), at, path });
    }
  }
}

function whyLost(step: StepDefinition, reachable: ReadonlySet<string>): string {
  const lost = step.dependsOn.find((group) => !group.some((id) => reachable.has(id)));
  return lost === undefined
    ? "it waits for a run list or a transition, and no step that runs has one to it"
    : `it needs ${quote(lost.join("|"))}, which never runs`;
}

/** A step without dependencies waits only because something names it. */
function wayOut({ id, dependsOn }: StepDefinition): string | undefined {
  return dependsOn.length > 0
    ? undefined
    : `${quote(id)} waits because something routes to it; give it \`start: auto\` if it should start on its own.`;
}

/** One pass: a step is taken up once it can run, and then releases what waits for it. */
function reachableSteps(
  { steps, transitions, finally: last = [] }: Definition,
  started: readonly string[],
): ReadonlySet<string> {
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
  const reachable = new Set<string>([...last, ...started]);
  for (const step of steps) if (step.start === "auto" && step.dependsOn.length === 0) reachable.add(step.id);
  /** Their ancestors are reachable, because a goto_js may name any of them. */
  const goBack = new Set<string>();
  // A set is walked in order of insertion, what is added meanwhile included.
  for (const id of reachable) {
    const { onFail, onSuccess, undo } = byId.get(id)!;
    for (const to of [...onFail.run, ...onSuccess.run, ...(targets.get(id) ?? [])]) reachable.add(to);
    for (const to of [undo, onFail.goto, onSuccess.goto]) if (to != null) reachable.add(to);
    if (onFail.gotoJs !== null || onSuccess.gotoJs !== null) addAncestors(id, byId, goBack, reachable);
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

function addAncestors(
  id: string,
  byId: ReadonlyMap<string, StepDefinition>,
  seen: Set<string>,
  reachable: Set<string>,
): void {
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    for (const ancestor of byId.get(next)!.dependsOn.flat()) {
      reachable.add(ancestor);
      open.push(ancestor);
    }
  }
}

function push<V>(lists: Map<string, V[]>, key: string, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
