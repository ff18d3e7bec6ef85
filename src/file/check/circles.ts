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
