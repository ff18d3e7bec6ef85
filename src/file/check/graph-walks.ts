import type { DependencyOrder } from "../../core/model/dependency-order.js";

/** Questions answered in one sweep over the graph: as many as a machine word has bits. */
const BITS = 32;

interface AncestorQuestion {
  readonly ancestor: number;
  readonly descendant: number;
}

interface AncestorAnswers {
  /** The answers in the order of the questions. */
  readonly answers: readonly boolean[];
  /** Steps and dependencies looked at, for tests of the cost. */
  readonly work: number;
}

/**
 * Which steps are ancestors of which, for many pairs at once. A spanning forest answers most pairs at once (all of
 * them in a chain), the order of the steps refutes many others; what is left goes 32 targets a sweep, so that even the
 * worst graph costs n/32 sweeps and never one search a pair.
 */
export function answerAncestors(
  graph: DependencyOrder,
  questions: readonly AncestorQuestion[],
): AncestorAnswers {
  const place = new Int32Array(graph.dependencies.length).fill(-1);
  graph.order.forEach((index, at) => {
    place[index] = at;
  });
  const forest = spanForest(graph, place);
  const answers: boolean[] = new Array(questions.length).fill(false);
  const open: number[] = [];
  questions.forEach(({ ancestor, descendant }, at) => {
    if (place[ancestor]! < 0 || place[descendant]! < 0 || place[ancestor]! >= place[descendant]!) return;
    if (forest.contains(ancestor, descendant)) answers[at] = true;
    else open.push(at);
  });
  const work = graph.order.length + sweep(graph, place, questions, open, answers);
  return { answers, work };
}

/** Each step hangs under its last dependency in order; `enter` and `leave` tell who is under whom. */
function spanForest(graph: DependencyOrder, place: Int32Array) {
  const size = graph.dependencies.length;
  const children: number[][] = Array.from({ length: size }, () => []);
  const roots: number[] = [];
  for (const index of graph.order) {
    let parent = -1;
    for (const dependency of graph.dependencies[index]!)
      if (parent < 0 || place[dependency]! > place[parent]!) parent = dependency;
    if (parent < 0) roots.push(index);
    else children[parent]!.push(index);
  }
  const enter = new Int32Array(size);
  const leave = new Int32Array(size);
  let clock = 0;
  const stack = roots.map((index) => ({ index, next: 0 }));
  while (stack.length > 0) {
    const top = stack.at(-1)!;
    if (top.next === 0) enter[top.index] = ++clock;
    const child = children[top.index]![top.next++];
    if (child !== undefined) stack.push({ index: child, next: 0 });
    else {
      leave[top.index] = ++clock;
      stack.pop();
    }
  }
  return {
    contains: (above: number, below: number) =>
      enter[above]! < enter[below]! && leave[below]! <= leave[above]!,
  };
}

function sweep(
  graph: DependencyOrder,
  place: Int32Array,
  questions: readonly AncestorQuestion[],
  open: readonly number[],
  answers: boolean[],
): number {
  const byTarget = new Map<number, number[]>();
  for (const at of open) {
    const target = questions[at]!.ancestor;
    const waiting = byTarget.get(target);
    if (waiting === undefined) byTarget.set(target, [at]);
    else waiting.push(at);
  }
  // Targets near each other in order share a sweep, so that it covers a short stretch.
  const targets = [...byTarget.keys()].sort((a, b) => place[a]! - place[b]!);
  const reached = new Int32Array(graph.dependencies.length);
  let work = 0;
  for (let first = 0; first < targets.length; first += BITS) {
    const batch = targets.slice(first, first + BITS);
    const asked = batch.flatMap((target) => byTarget.get(target)!);
    const from = place[batch[0]!]!;
    const to = asked.reduce((last, at) => Math.max(last, place[questions[at]!.descendant]!), from);
    const bitOf = new Map(batch.map((target, bit) => [target, 1 << bit]));
    for (let at = from; at <= to; at++) {
      const index = graph.order[at]!;
      let bits = 0;
      for (const dependency of graph.dependencies[index]!) {
        work++;
        if (place[dependency]! >= from) bits |= reached[dependency]! | (bitOf.get(dependency) ?? 0);
      }
      reached[index] = bits;
    }
    for (const at of asked)
      answers[at] = (reached[questions[at]!.descendant]! & bitOf.get(questions[at]!.ancestor)!) !== 0;
  }
  return work;
}

/** Ids shown of a long circle. */
const MAX_SHOWN = 12;

/**
 * One circle from each knot of a directed graph (Tarjan's strongly connected components, without recursion).
 * An edge from a node to itself is not a circle here; the callers say that in their own words.
 */
export function findCircles(edges: readonly (readonly number[])[]): number[][] {
  return findKnots(edges).map((knot) => circleIn(knot, edges));
}

/** The sets of nodes, of two or more, from each of which every other of the set can be reached. */
export function findKnots(edges: readonly (readonly number[])[]): number[][] {
  const UNSEEN = -1;
  const entered = new Int32Array(edges.length).fill(UNSEEN);
  const lowest = new Int32Array(edges.length);
  const onStack = new Uint8Array(edges.length);
  const stack: number[] = [];
  const found: number[][] = [];
  let clock = 0;
  const enter = (node: number) => {
    entered[node] = lowest[node] = clock++;
    stack.push(node);
    onStack[node] = 1;
    return { node, next: 0 };
  };
  for (let root = 0; root < edges.length; root++) {
    if (entered[root] !== UNSEEN) continue;
    const walk = [enter(root)];
    while (walk.length > 0) {
      const top = walk.at(-1)!;
      const { node } = top;
      const target = edges[node]![top.next++];
      if (target !== undefined) {
        if (entered[target] === UNSEEN) walk.push(enter(target));
        else if (onStack[target] === 1) lowest[node] = Math.min(lowest[node]!, entered[target]!);
        continue;
      }
      walk.pop();
      const parent = walk.at(-1)?.node;
      if (parent !== undefined) lowest[parent] = Math.min(lowest[parent]!, lowest[node]!);
      if (lowest[node] !== entered[node]) continue;
      const knot = stack.splice(stack.lastIndexOf(node));
      for (const member of knot) onStack[member] = 0;
      if (knot.length > 1) found.push(knot);
    }
  }
  return found;
}

/** Follow edges within the knot until a node comes again. */
function circleIn(knot: readonly number[], edges: readonly (readonly number[])[]): number[] {
  const members = new Set(knot);
  const seenAt = new Map<number, number>();
  const way: number[] = [];
  let node = Math.min(...knot.slice(0, MAX_SHOWN));
  while (!seenAt.has(node)) {
    seenAt.set(node, way.length);
    way.push(node);
    const from = node;
    node = edges[from]!.find((target) => target !== from && members.has(target))!;
  }
  return way.slice(seenAt.get(node));
}

/** `a -> b -> a`, shortened in the middle where it is long. */
export function renderCircle(ids: readonly string[]): string {
  const shown =
    ids.length > MAX_SHOWN
      ? [...ids.slice(0, MAX_SHOWN - 2), `… ${ids.length - MAX_SHOWN + 1} more …`, ids.at(-1)!]
      : ids;
  return [...shown, ids[0]!].join(" -> ");
}
