/** Layers with a slot reserved wherever a long edge passes, so that it does not cross a step there. */
interface Threaded {
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
function threadLongEdges(
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

/** Input of the layout. Only dependencies determine layers; routes are drawn on top. */
export interface LayoutInput {
  readonly nodes: readonly { readonly name: string; readonly width: number; readonly height?: number }[];
  /** Dependencies. A cycle is cut at the edge that closes it. */
  readonly edges: readonly { readonly from: string; readonly to: string }[];
  /** Routes. Steps that only routes lead to are placed beside or below the source. */
  readonly routes: readonly { readonly from: string; readonly to: string; readonly below: boolean }[];
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  /** The height; by default that of most nodes. */
  readonly height?: number;
}

/** A point where an edge passes straight down through a layer. */
export interface Bend {
  readonly x: number;
  readonly top: number;
  readonly bottom: number;
}

export interface Layout {
  readonly boxes: ReadonlyMap<string, Box>;
  /** By `edgeKey`: the points that an edge passes between its ends. */
  readonly bends: ReadonlyMap<string, readonly Bend[]>;
  readonly width: number;
  readonly height: number;
}

export const NODE_HEIGHT = 36;
/** Distance between layers. It is larger if an edge goes far to the side or has a label. */
const LAYER_GAP = 20;
const MAX_LAYER_GAP = 44;
const LABEL_GAP = 36;
const GAP_PER_PX_ASIDE = 0.06;
const NODE_GAP = 22;
/** Additional room on both sides of a step beside its source, for two arcs and a number. */
const ASIDE_ROOM = 15;
const MARGIN = 56;
const SWEEPS = 6;

/**
 * Lays nodes out in layers from top to bottom, each ordered by the positions of neighbours. Takes time proportional to
 * nodes and edges, not to their square.
 */
export function layOut({ nodes, edges, routes }: LayoutInput): Layout {
  const index = new Map(nodes.map(({ name }, place) => [name, place]));
  const pairs = edges.flatMap(({ from, to }) => pairOf(index, from, to));
  const above: number[][] = nodes.map(() => []);
  const below: number[][] = nodes.map(() => []);
  for (const [from, to] of pairs) {
    above[to]!.push(from);
    below[from]!.push(to);
  }
  leadBelow(above, below, routes, index);
  const layerOf = layersOf(above, below);
  const beside = placeRouted(layerOf, above, below, routes, index);
  const labelled = routes.flatMap(({ from, to, below: isBelow }) => (isBelow ? pairOf(index, from, to) : []));
  const threaded = threadLongEdges(layerOf, above, below, labelled);
  const layers: number[][] = [];
  for (const [node, layer] of threaded.layer.entries()) {
    layers[layer] ??= [];
    layers[layer].push(node);
  }
  const filled = Array.from(layers, (layer) => layer ?? []);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1)
    orderBy(filled, sweep % 2 === 0 ? threaded.above : threaded.below, sweep % 2 === 0);
  return positions(filled, nodes, threaded, labelled, beside);
}

function pairOf(index: ReadonlyMap<string, number>, from: string, to: string): [number, number][] {
  const [start, end] = [index.get(from), index.get(to)];
  return start === undefined || end === undefined || start === end ? [] : [[start, end]];
}

/**
 * Assigns each node the length of the longest path from the top. When only cycles are left, it continues with one of
 * their nodes.
 */
function layersOf(above: readonly number[][], below: readonly number[][]): number[] {
  const waiting = above.map(({ length }) => length);
  const layer = above.map(() => 0);
  const queue = waiting.flatMap((count, node) => (count === 0 ? [node] : []));
  const done = new Set(queue);
  for (let next = 0, rest = 0; ; next += 1) {
    while (next >= queue.length && rest < above.length) {
      if (!done.has(rest)) {
        done.add(rest);
        queue.push(rest);
      }
      rest += 1;
    }
    const node = queue[next];
    if (node === undefined) return layer;
    for (const child of below[node]!) {
      if (done.has(child)) continue;
      layer[child] = Math.max(layer[child]!, layer[node]! + 1);
      waiting[child]! -= 1;
      if (waiting[child] === 0) {
        done.add(child);
        queue.push(child);
      }
    }
  }
}

/** Places a step that only a failure leads to below its source, together with all that follows it. */
function leadBelow(
  above: number[][],
  below: number[][],
  routes: LayoutInput["routes"],
  index: ReadonlyMap<string, number>,
): void {
  const roots = new Set(above.flatMap((before, node) => (before.length === 0 ? [node] : [])));
  for (const { from, to, below: isBelow } of routes) {
    const [pair] = isBelow ? pairOf(index, from, to) : [];
    if (pair === undefined || !roots.has(pair[1]) || reaches(below, pair[1], pair[0])) continue;
    above[pair[1]]!.push(pair[0]);
    below[pair[0]]!.push(pair[1]);
  }
}

function reaches(below: readonly number[][], from: number, to: number): boolean {
  const seen = new Set([from]);
  for (const node of seen) {
    if (node === to) return true;
    for (const next of below[node]!) seen.add(next);
  }
  return false;
}

/** Places steps that only routes lead to. Returns those beside their source. */
function placeRouted(
  layer: number[],
  above: number[][],
  below: number[][],
  routes: LayoutInput["routes"],
  index: ReadonlyMap<string, number>,
): ReadonlySet<number> {
  const beside = new Set<number>();
  for (const { from, to, below: isBelow } of routes) {
    const [pair] = pairOf(index, from, to);
    if (pair === undefined) continue;
    const [source, target] = pair;
    const isAlone = above[target]!.length === 0 && below[target]!.length === 0;
    if (!isAlone || layer[target] !== 0) continue;
    layer[target] = layer[source]! + (isBelow ? 1 : 0);
    // This edge pulls the step towards its source.
    above[target]!.push(source);
    if (!isBelow) beside.add(target);
  }
  return beside;
}

/** Orders layers by the mean position of neighbours. Nodes without neighbours keep their position. */
function orderBy(layers: number[][], neighbours: readonly number[][], downwards: boolean): void {
  const place = new Map<number, number>();
  const remember = (layer: readonly number[]): void => {
    for (const [at, node] of layer.entries()) place.set(node, (at + 0.5) / layer.length);
  };
  for (const layer of layers) remember(layer);
  const order = downwards ? layers : layers.toReversed();
  for (const layer of order) {
    const wanted = new Map(
      layer.map((node) => {
        const others = neighbours[node]!;
        if (others.length === 0) return [node, place.get(node)!];
        let sum = 0;
        for (const other of others) sum += place.get(other)!;
        return [node, sum / others.length];
      }),
    );
    layer.sort((one, other) => wanted.get(one)! - wanted.get(other)! || one - other);
    remember(layer);
  }
}

function positions(
  layers: readonly (readonly number[])[],
  nodes: LayoutInput["nodes"],
  { layer: layerOf, above, below, threads }: Threaded,
  labelled: readonly (readonly [from: number, to: number])[],
  beside: ReadonlySet<number>,
): Layout {
  if (nodes.length === 0) return { boxes: new Map(), bends: new Map(), width: 0, height: 0 };
  const widths = layerOf.map(
    (_, node) => (nodes[node]?.width ?? 0) + (beside.has(node) ? 2 * ASIDE_ROOM : 0),
  );
  const centre = new Float64Array(layerOf.length);
  for (const layer of layers) spread(layer, widths, centre, () => null);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const neighbours = sweep % 2 === 0 ? above : below;
    for (const layer of sweep % 2 === 0 ? layers : layers.toReversed())
      spread(layer, widths, centre, (node) => {
        const others = neighbours[node]!;
        if (others.length === 0) return null;
        let sum = 0;
        for (const other of others) sum += centre[other]!;
        return sum / others.length;
      });
  }
  let [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const [node, width] of widths.entries()) {
    left = Math.min(left, centre[node]! - width / 2);
    right = Math.max(right, centre[node]! + width / 2);
  }
  const gaps = gapsAbove(layers, above, centre);
  for (const [, to] of labelled) gaps[layerOf[to]!] = Math.max(LABEL_GAP, gaps[layerOf[to]!]!);
  const boxes = new Map<string, Box>();
  const rows: { readonly top: number; readonly bottom: number }[] = [];
  let y = MARGIN / 2;
  for (const [at, layer] of layers.entries()) {
    if (at > 0) y += gaps[at]!;
    let tallest = NODE_HEIGHT;
    for (const node of layer) {
      if (nodes[node] === undefined) continue;
      const { name, width, height = NODE_HEIGHT } = nodes[node];
      boxes.set(name, { x: centre[node]! - width / 2 - left + MARGIN, y, width, height });
      tallest = Math.max(tallest, height);
    }
    rows.push({ top: y, bottom: y + tallest });
    y += tallest;
  }
  const bends = new Map<string, Bend[]>();
  for (const [key, places] of threads) {
    const [from, to] = key.split("\n").map((node) => nodes[Number(node)]!.name) as [string, string];
    const x = (place: number): number => centre[place]! - left + MARGIN;
    bends.set(
      edgeKey(from, to),
      places.map((place) => ({ x: x(place), ...rows[layerOf[place]!]! })),
    );
  }
  return { boxes, bends, width: right - left + 2 * MARGIN, height: y + MARGIN / 2 };
}

/** Gaps above layers: the further an edge goes to the side, the more height it needs to look as if it goes down. */
function gapsAbove(
  layers: readonly (readonly number[])[],
  above: readonly number[][],
  centre: Float64Array,
): number[] {
  return layers.map((layer) => {
    let aside = 0;
    for (const node of layer)
      for (const other of above[node]!) aside = Math.max(aside, Math.abs(centre[other]! - centre[node]!));
    return Math.min(MAX_LAYER_GAP, LAYER_GAP + aside * GAP_PER_PX_ASIDE);
  });
}

/** Moves the nodes of a layer to their wanted positions as far as their neighbours allow. The order stays. */
function spread(
  layer: readonly number[],
  widths: readonly number[],
  centre: Float64Array,
  wants: (node: number) => number | null,
): void {
  let edge = Number.NEGATIVE_INFINITY;
  const wanted: number[] = [];
  for (const node of layer) {
    const half = widths[node]! / 2;
    const want =
      wants(node) ??
      (edge === Number.NEGATIVE_INFINITY ? centre[node]! : Math.max(centre[node]!, edge + half));
    wanted.push(want);
    centre[node] = Math.max(want, edge === Number.NEGATIVE_INFINITY ? want : edge + half);
    edge = centre[node]! + half + NODE_GAP;
  }
  // Nodes pushed to the right move half of the way back, together with their whole layer.
  let drift = 0;
  for (const [at, node] of layer.entries()) drift += centre[node]! - wanted[at]!;
  const back = layer.length === 0 ? 0 : drift / layer.length;
  for (const node of layer) centre[node] = centre[node]! - back;
}
