import type { Writable } from "../text/shape.js";
import type { Definition, StepDefinition, Transition } from "./definition.js";
import { fanPaths } from "./fan-out.js";
import { added, mapped, NONE } from "./sparse-lists.js";

/** One group of a step's `depends_on`, as a dependency points at it. */
export interface DependentGroup {
  readonly step: GraphStep;
  readonly group: number;
}

/** A step with its place in the workflow: what a decision needs of its neighbours, found once at load. */
export interface GraphStep {
  readonly index: number;
  readonly definition: StepDefinition;
  /** The forEach steps whose fan-outs enclose this step, outermost first. */
  readonly path: readonly GraphStep[];
  readonly groups: readonly (readonly GraphStep[])[];
  /** For a reducer: which of its groups are decided separately in each branch. */
  readonly branchGroups: readonly boolean[];
  /** The fan-out that a reducer closes. */
  readonly closes: GraphStep | null;
  readonly dependents: readonly DependentGroup[];
  /** Transitions to try when the step completes or fails, in the order in which they are tried. */
  readonly successEdges: readonly Edge[];
  readonly failureEdges: readonly Edge[];
  /** A transition leads here: how its visits end must be remembered. */
  readonly isEdgeTarget: boolean;
  /** It runs only when a run ends: to undo other steps, or as one of `finally`. */
  readonly atEnd: "undo" | "finally" | null;
}

export interface Edge {
  readonly definition: Transition;
  readonly to: GraphStep;
}

export interface Graph {
  readonly steps: readonly GraphStep[];
  readonly byId: ReadonlyMap<string, GraphStep>;
  /** Steps of the root scope and, by forEach step, those of one item, in file order. */
  readonly inRoot: readonly GraphStep[];
  readonly inItemsOf: ReadonlyMap<GraphStep, readonly GraphStep[]>;
  /** By forEach step: the reducers that close it. */
  readonly reducersOf: ReadonlyMap<GraphStep, readonly GraphStep[]>;
  /** What the program of a flow has called, by the step whose items it lies in, and by name: as it was called last. */
  readonly called: Map<GraphStep | null, Map<string, GraphStep>>;
}

/** Needs a definition without problems: the loader has refused cycles and crossed fan-outs. */
export function buildGraph(definition: Definition): Graph {
  const byId = new Map<string, GraphStep>();
  const steps = definition.steps.map((step, index): GraphStep => {
    const node = unconnected(index, step, NONE);
    byId.set(step.id, node);
    return node;
  });
  const paths = definition.steps.some(({ forEach }) => forEach) ? fanPaths(definition.steps).paths : null;
  markAtEnd(definition, byId);
  const inRoot: GraphStep[] = [];
  const inItemsOf = new Map<GraphStep, GraphStep[]>();
  const reducersOf = new Map<GraphStep, GraphStep[]>();
  for (const step of steps as Writable<GraphStep>[]) {
    step.path = mapped(paths?.get(step.definition.id) ?? NONE, (id) => byId.get(id)!);
    step.groups = mapped(step.definition.dependsOn, (group) => group.map((id) => byId.get(id)!));
    const innermost = step.path.at(-1);
    if (step.atEnd !== null) continue;
    if (innermost === undefined) inRoot.push(step);
    else append(inItemsOf, innermost, step);
    step.groups.forEach((members, group) => {
      for (const member of members as Writable<GraphStep>[])
        member.dependents = added(member.dependents, { step, group });
    });
  }
  for (const step of steps as Writable<GraphStep>[]) {
    if (!step.definition.reduce) {
      step.branchGroups = mapped(step.groups, () => false);
      continue;
    }
    step.branchGroups = step.groups.map((members) =>
      members.some((member) => innerPath(member).length > step.path.length),
    );
    const deepest = step.groups
      .flat()
      .map(innerPath)
      .reduce((a, b) => (b.length > a.length ? b : a), [] as readonly GraphStep[]);
    step.closes = deepest.at(-1) ?? null;
    if (step.closes !== null) append(reducersOf, step.closes, step);
  }
  addEdges(definition, byId);
  return { steps, byId, inRoot, inItemsOf, reducersOf, called: new Map() };
}

/** A step that nothing leads to or from yet. */
function unconnected(index: number, definition: StepDefinition, path: readonly GraphStep[]): GraphStep {
  return {
    index,
    definition,
    path,
    groups: NONE,
    branchGroups: NONE,
    closes: null,
    dependents: NONE,
    successEdges: NONE,
    failureEdges: NONE,
    isEdgeTarget: false,
    atEnd: null,
  };
}

/** The program of a flow has called a step that nobody knew, or calls it otherwise now. */
export function addCalled(graph: Graph, definition: StepDefinition, path: readonly GraphStep[]): GraphStep {
  const step = unconnected(graph.steps.length, definition, path);
  (graph.steps as GraphStep[]).push(step);
  const { id } = definition;
  if (!graph.byId.has(id)) (graph.byId as Map<string, GraphStep>).set(id, step);
  const opener = path.at(-1) ?? null;
  const beside = graph.called.get(opener) ?? new Map<string, GraphStep>();
  graph.called.set(opener, beside.set(id, step));
  return step;
}

/** The step of this name for a scope: what a program calls there comes before a step of the definition. */
export function stepNamed(graph: Graph, opener: GraphStep | null, id: string): GraphStep | undefined {
  return graph.called.get(opener)?.get(id) ?? graph.byId.get(id);
}

/** Their jobs are made when the run ends, in the scopes in which there is something to undo. */
function markAtEnd(definition: Definition, byId: ReadonlyMap<string, GraphStep>): void {
  for (const { undo } of definition.steps)
    if (undo !== undefined) (byId.get(undo) as Writable<GraphStep>).atEnd = "undo";
  for (const id of definition.finally ?? []) (byId.get(id) as Writable<GraphStep>).atEnd = "finally";
}

/** Candidates are tried by priority, then target, then place in the file; the first match wins. */
function addEdges(definition: Definition, byId: ReadonlyMap<string, GraphStep>): void {
  const ordered = [...definition.transitions].sort(
    (a, b) => a.priority - b.priority || (a.to < b.to ? -1 : a.to > b.to ? 1 : a.id - b.id),
  );
  for (const transition of ordered) {
    const from: Writable<GraphStep> = byId.get(transition.from)!;
    const edge: Edge = { definition: transition, to: byId.get(transition.to)! };
    if (transition.on !== "failure") from.successEdges = added(from.successEdges, edge);
    if (transition.on !== "success") from.failureEdges = added(from.failureEdges, edge);
    (edge.to as Writable<GraphStep>).isEdgeTarget = true;
  }
}

/** The path in which a step's dependents find themselves: a forEach step adds its own fan-out. */
function innerPath(step: GraphStep): readonly GraphStep[] {
  return step.definition.forEach ? [...step.path, step] : step.path;
}

/** Whether `descendant` depends on `ancestor`, directly or through others. */
export function isAncestor(ancestor: GraphStep, descendant: GraphStep): boolean {
  const known = knownAncestors.get(descendant) ?? new Map<GraphStep, boolean>();
  knownAncestors.set(descendant, known);
  const before = known.get(ancestor);
  if (before !== undefined) return before;
  const found = searchDescendant(ancestor, descendant);
  known.set(ancestor, found);
  return found;
}

/** A step asks for the same few ancestors at each of its failures; the search is paid once. */
const knownAncestors = new WeakMap<GraphStep, Map<GraphStep, boolean>>();

function searchDescendant(ancestor: GraphStep, descendant: GraphStep): boolean {
  if (ancestor === descendant) return false;
  const seen = new Set<GraphStep>([ancestor]);
  const queue = [ancestor];
  for (const step of queue) {
    for (const dependent of step.dependents) {
      if (dependent.step === descendant) return true;
      if (!seen.has(dependent.step)) {
        seen.add(dependent.step);
        queue.push(dependent.step);
      }
    }
  }
  return false;
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

export function hasFollowUps(step: GraphStep): boolean {
  const { run, runJs, goto, gotoJs } = step.definition.onSuccess;
  return run.length > 0 || runJs !== null || goto !== null || gotoJs !== null || step.successEdges.length > 0;
}
