import {
  type Definition,
  type Routing,
  repairsInVisit,
  type StepDefinition,
  type Transition,
} from "../../core/model/definition.js";
import { type DependencyOrder, dependencyOrder } from "../../core/model/dependency-order.js";
import { fanPaths, isPrefix, isSamePath } from "../../core/model/fan-out.js";
import { list, nullable, number, type OfFields, object, text } from "../../core/text/shape.js";
import { closure } from "../check/step-graph.js";
import { deepFreeze } from "../read/freeze.js";
import { stepsThatAlwaysGoBack } from "./lint-gotos.js";

/** The most that can happen to one step, restarts after lost workers apart. Null: run lists that go round in a circle leave it open. */
const STEP_WORST_CASE = {
  step: text,
  /** The forEach steps around it; the numbers are for one item of the innermost. */
  path: list(text),
  visits: nullable(number),
  attempts: nullable(number),
} as const;
export type StepWorstCase = OfFields<typeof STEP_WORST_CASE>;

export const WORST_CASE = {
  steps: list(object(STEP_WORST_CASE)),
  /** Attempts of all steps outside any fan-out. */
  attempts: nullable(number),
  /** Attempts of the steps of one item, by fan-out. */
  per_item: list(object({ path: list(text), attempts: nullable(number) })),
  restarts_per_visit: number,
} as const;
export type WorstCase = OfFields<typeof WORST_CASE>;

interface Plan {
  readonly definition: Definition;
  readonly indexOf: ReadonlyMap<string, number>;
  readonly order: DependencyOrder;
  readonly paths: readonly (readonly string[])[];
  /** The transitions that can be taken. */
  readonly transitions: readonly Transition[];
}

/** An upper bound, counted from the file alone: every attempt fails for as long as something is left to try. */
export function worstCase(definition: Definition): WorstCase {
  const { steps, maxLoops } = definition;
  const indexOf = new Map(steps.map((step, index) => [step.id, index]));
  const fan = fanPaths(steps).paths;
  const plan: Plan = {
    definition,
    indexOf,
    order: dependencyOrder(steps),
    paths: steps.map((step) => fan.get(step.id)!),
    transitions: takenTransitions(definition),
  };
  const again = againByGoto(plan);
  againByTransitions(plan, again);
  const ruleRetries = retriesByRules(definition);
  const visits = countVisits(plan, again);
  const generationsOf = (path: readonly string[]): number | null =>
    path.reduce<number | null>((product, id) => times(product, visits[indexOf.get(id)!]!), 1);
  const atEnd = visitsAtEnd(plan);
  const results = steps.map((step, index): StepWorstCase => {
    const end = atEnd.get(step.id);
    if (end !== undefined) return stepAtEnd(step, end, generationsOf(end.path), ruleRetries(step));
    const own = visits[index]!;
    if (own === null) return { step: step.id, path: plan.paths[index]!, visits: null, attempts: null };
    const rounds = own === 0 ? 0 : own + (definition.queue?.maxAttempts ?? 1) - 1;
    const retries = triesAgain(definition, step, rounds);
    // Gotos and re-attempts after a repair share one budget; what gotos can use of it is in the visits already.
    const reAttempts = Math.min(maxLoops - again[index]!, own * repairsInVisit(step.onFail));
    const generations = generationsOf(plan.paths[index]!);
    return {
      step: step.id,
      path: plan.paths[index]!,
      visits: times(own, generations),
      attempts: times(rounds + retries + reAttempts + ruleRetries(step), generations),
    };
  });
  return deepFreeze({ steps: results, ...sumByPath(results), restarts_per_visit: definition.maxRecoveries });
}

interface EndVisits {
  readonly path: readonly string[];
  readonly visits: number;
}

/** A `finally` step runs once, and an undo step once for each step that it undoes, in the items of that one. */
function visitsAtEnd({ definition, indexOf, paths }: Plan): Map<string, EndVisits> {
  const found = new Map<string, EndVisits>();
  for (const { id, undo } of definition.steps)
    if (undo !== undefined)
      found.set(undo, { path: paths[indexOf.get(id)!]!, visits: (found.get(undo)?.visits ?? 0) + 1 });
  for (const id of definition.finally ?? []) found.set(id, { path: [], visits: 1 });
  return found;
}

/** Each visit has the budgets of its step, and `max_loops` does not bound them. */
function stepAtEnd(
  step: StepDefinition,
  { path, visits }: EndVisits,
  generations: number | null,
  ruleRetries: number,
): StepWorstCase {
  const attempts = visits * (1 + (step.onFail.retry?.max ?? 0) + ruleRetries);
  return {
    step: step.id,
    path,
    visits: times(visits, generations),
    attempts: times(attempts, generations),
  };
}

/** Without those after a failure that never gets so far. */
function takenTransitions(definition: Definition): readonly Transition[] {
  const goBack = stepsThatAlwaysGoBack(definition);
  return definition.transitions.filter(({ from, on }) => on !== "failure" || !goBack.has(from));
}

/** Retries, which the loop budget bounds, and hard resets, which it does not; together a step has so many a round. */
function triesAgain({ maxLoops, selfHeal }: Definition, step: StepDefinition, rounds: number): number {
  const most = rounds * (step.onFail.retry?.max ?? 0);
  const resets = step.usesWorkspace ? (selfHeal?.maxResets ?? 0) : 0;
  return Math.min(most, Math.min(maxLoops, most) + resets);
}

/** A rule acts while the job has had fewer attempts than it allows, whatever the visit. */
function retriesByRules({ failureHandlers }: Definition): (step: StepDefinition) => number {
  const most = new Map(
    failureHandlers.map(({ name, rules }) => [name, Math.max(...rules.map((rule) => rule.maxAttempts - 1))]),
  );
  return ({ failureHandler }) => (failureHandler === null ? 0 : (most.get(failureHandler) ?? 0));
}

function times(first: number | null, second: number | null): number | null {
  return first === null || second === null ? null : Math.min(Number.MAX_SAFE_INTEGER, first * second);
}

function sumByPath(results: readonly StepWorstCase[]): Pick<WorstCase, "attempts" | "per_item"> {
  const sums = new Map<string, { path: readonly string[]; attempts: number | null }>([
    ["", { path: [], attempts: 0 }],
  ]);
  for (const { path, attempts } of results) {
    const key = path.join("\n");
    const before = sums.get(key)?.attempts;
    const sum =
      before === null || attempts === null
        ? null
        : Math.min(Number.MAX_SAFE_INTEGER, (before ?? 0) + attempts);
    sums.set(key, { path, attempts: sum });
  }
  const [outside, ...perItem] = sums.values();
  return { attempts: outside!.attempts, per_item: perItem };
}

/**
 * How often gotos of their own scope can send steps on a new visit: as often as all gotos of the scope together, if they
 * all have bounds, and at most max_loops times.
 */
function againByGoto(plan: Plan): Float64Array {
  const again = new Float64Array(plan.definition.steps.length);
  for (const { path, targets, dynamic, most } of gotosByPath(plan).values()) {
    const inside = (index: number) => isPrefix(path, plan.paths[index]!);
    const ancestors = closure(dynamic, plan.order.dependencies, inside);
    for (const source of dynamic) ancestors.delete(source);
    const starts = [...targets, ...[...ancestors].filter((index) => isSamePath(path, plan.paths[index]!))];
    for (const index of closure(starts, plan.order.dependents, inside))
      if (isSamePath(path, plan.paths[index]!)) again[index] = Math.min(plan.definition.maxLoops, most);
  }
  return again;
}

/**
 * How often transitions can send steps on a new visit. A routed step that only one step leads to is visited as often as
 * that one; any other target, and what depends on a target that is visited again, up to max_loops times more.
 */
function againByTransitions(plan: Plan, again: Float64Array): void {
  const { definition, indexOf, order, paths, transitions } = plan;
  const { steps, maxLoops } = definition;
  const inRunLists = new Set(steps.flatMap(({ onFail, onSuccess }) => [...onFail.run, ...onSuccess.run]));
  const sources = new Map<string, Set<string>>();
  const targets = new Map<number, Set<number>>();
  for (const { from, to } of transitions) {
    sources.set(to, (sources.get(to) ?? new Set()).add(from));
    const source = indexOf.get(from)!;
    targets.set(source, (targets.get(source) ?? new Set()).add(indexOf.get(to)!));
  }
  const open = new Set<number>();
  steps.forEach(({ id, start }, index) => {
    const count = sources.get(id)?.size ?? 0;
    if (count > 1 || (count === 1 && (start === "auto" || inRunLists.has(id)))) open.add(index);
  });
  const dependentsOf = (index: number) =>
    order.dependents[index]!.filter((next) => isSamePath(paths[index]!, paths[next]!));
  const led = [...again.keys()].filter((index) => again[index]! > 0);
  // A list is walked with what is added to it meanwhile.
  for (const index of led) {
    for (const target of targets.get(index) ?? []) {
      // A goto can send it on new visits as well, or the way goes round in a circle.
      if (again[target]! > 0) open.add(target);
      if (open.has(target)) continue;
      again[target] = again[index]!;
      led.push(target);
      for (const next of dependentsOf(target)) open.add(next);
    }
  }
  // A set is walked in order of insertion, what is added meanwhile included.
  for (const index of open) {
    again[index] = maxLoops;
    for (const target of targets.get(index) ?? []) open.add(target);
    for (const next of dependentsOf(index)) open.add(next);
  }
}

interface GotoGroup {
  readonly path: readonly string[];
  readonly targets: number[];
  /** Steps whose goto_js may name any ancestor. */
  readonly dynamic: number[];
  /** The bounds of all of them together. */
  most: number;
}

function gotosByPath(plan: Plan): Map<string, GotoGroup> {
  const groups = new Map<string, GotoGroup>();
  plan.definition.steps.forEach(({ onFail, onSuccess }, index) => {
    const path = plan.paths[index]!;
    for (const { goto, gotoJs, gotoMax } of [onFail, onSuccess]) {
      if (goto === null && gotoJs === null) continue;
      const key = path.join("\n");
      const group = groups.get(key) ?? { path, targets: [], dynamic: [], most: 0 };
      groups.set(key, group);
      if (goto !== null) group.targets.push(plan.indexOf.get(goto)!);
      if (gotoJs !== null) group.dynamic.push(index);
      group.most += gotoMax ?? Number.POSITIVE_INFINITY;
    }
  });
  return groups;
}

/** A run_js names at most each routed step once in each visit of its own: all of them together ask through one place. */
function countVisits(plan: Plan, again: Float64Array): readonly (number | null)[] {
  const { steps } = plan.definition;
  const reached = new Set(plan.transitions.map(({ to }) => to));
  const runJs = steps.length;
  const routed = [...steps.keys()].filter((index) => steps[index]!.start === "routed");
  const requests = [
    ...steps.map(({ onFail, onSuccess }) => [
      // Each repair but the last of a visit has led to a loop.
      ...asks(plan, onFail, Math.min(repairsInVisit(onFail), plan.definition.maxLoops + 1), runJs),
      ...asks(plan, onSuccess, 1, runJs),
    ]),
    routed.map((target) => ({ target, times: 1 })),
  ];
  const waiting = new Int32Array(requests.length);
  for (const { target } of requests.flat()) waiting[target]!++;
  const asked = new Float64Array(requests.length);
  const visits: (number | null)[] = steps.map(() => null);
  const ready = [...requests.keys()].filter((index) => waiting[index] === 0);
  for (const index of ready) {
    const step = steps[index];
    const first = step?.start === "auto" || (step !== undefined && reached.has(step.id)) ? 1 : 0;
    const own = first + (again[index] ?? 0) + asked[index]!;
    if (step !== undefined) visits[index] = own;
    for (const { target, times } of requests[index]!) {
      asked[target]! += own * times;
      waiting[target]!--;
      if (waiting[target] === 0) ready.push(target);
    }
  }
  return visits.map((count) => (count === Number.POSITIVE_INFINITY ? null : count));
}

/** What a run list may ask for in one visit. */
function asks(plan: Plan, { run, runJs }: Routing, times: number, dynamic: number) {
  const targets = run.map((id) => plan.indexOf.get(id)!);
  return [...targets, ...(runJs === null ? [] : [dynamic])].map((target) => ({ target, times }));
}
