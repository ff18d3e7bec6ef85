/** Layers with a slot reserved wherever a long edge passes, so that it does not cross a step there. */
export interface Threaded {
  /** Layer by node. Reserved slots come after the nodes. */
  readonly layer: readonly number[];
  readonly above: readonly number[][];
  readonly below: readonly number[][];
  /** Slots by edge, from top to bottom. */
  readonly threads: ReadonlyMap<string, readonly number[]>;
}

/** In a graph with more slots nobody follows a single edge, and the layout would take long. */
const MAX_THREADS = 600;

export function edgeKey(from: string | number, to: string | number): string {
  return `${from}\n${to}`;
}

/** Reserves slots. `more` contains edges that are drawn but do not determine layers. */
export function threadLongEdges(
  layer: readonly number[],
  above: readonly number[][],
  below: readonly number[][],
  more: readonly (readonly [from: number, to: number])[],
): Threaded {
  const depends = above.flatMap((before, to) => before.map((from) => [from, to] as const));
  const long = [...depends, ...more].filter(([from, to]) => layer[to]! - layer[from]! > 1);
  const passed = long.reduce((sum, [from, to]) => sum + layer[to]! - layer[from]! - 1, 0);
  const threads = new Map<string, number[]>();
  if (passed === 0 || passed > MAX_THREADS) return { layer, above, below, threads };
  const next = { layer: [...layer], above: above.map(copied), below: below.map(copied) };
  for (const [from, to] of long) {
    if (threads.has(edgeKey(from, to))) continue;
    const places: number[] = [];
    for (let at = layer[from]! + 1; at < layer[to]!; at += 1) {
      places.push(next.layer.length);
      next.layer.push(at);
      next.above.push([]);
      next.below.push([]);
    }
    threads.set(edgeKey(from, to), places);
    next.below[from] = next.below[from]!.filter((node) => node !== to);
    next.above[to] = next.above[to]!.filter((node) => node !== from);
    const way = [from, ...places, to];
    for (const [step, node] of way.slice(1).entries()) {
      next.above[node]!.push(way[step]!);
      next.below[way[step]!]!.push(node);
    }
  }
  return { ...next, threads };
}

function copied(nodes: readonly number[]): number[] {
  return [...nodes];
}
