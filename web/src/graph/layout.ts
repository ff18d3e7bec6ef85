import { edgeKey, type Threaded, threadLongEdges } from "./long-edges.js";

/** What is laid out: only dependencies decide layers, the others are drawn over it. */
export interface LayoutInput {
  readonly nodes: readonly { readonly name: string; readonly width: number; readonly height?: number }[];
  /** Dependencies. A circle among them is cut where it closes. */
  readonly edges: readonly { readonly from: string; readonly to: string }[];
  /** Steps that only routes lead to stand beside or below who sends to them. */
  readonly routes: readonly { readonly from: string; readonly to: string; readonly below: boolean }[];
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  /** Missing: that of most nodes. */
  readonly height?: number;
}

/** Where an edge goes straight down through a layer. */
export interface Bend {
  readonly x: number;
  readonly top: number;
  readonly bottom: number;
}

export interface Layout {
  readonly boxes: ReadonlyMap<string, Box>;
  /** By `edgeKey`: what edges pass between their ends. */
  readonly bends: ReadonlyMap<string, readonly Bend[]>;
  readonly width: number;
  readonly height: number;
}

export const NODE_HEIGHT = 36;
/** Between two layers: more where an edge goes far to the side, or has a text. */
const LAYER_GAP = 20;
const MAX_LAYER_GAP = 44;
const LABEL_GAP = 36;
const GAP_PER_PX_ASIDE = 0.06;
const NODE_GAP = 22;
/** More room on both sides of a step that stands beside who sends to it: two arcs and a number go there. */
const ASIDE_ROOM = 15;
const MARGIN = 56;
const SWEEPS = 6;

/** Layers from top to bottom, each ordered by where its neighbours are. Time grows with nodes and edges, not their square. */
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

/** The longest way from the top. What is left when nothing can be taken any more lies in a circle, and goes on from there. */
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

/** What only a failure leads to stands below who sends it there, with all that follows. */
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

/** Answers those that stand beside who sends to them. */
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
    // It is pulled towards who sends to it.
    above[target]!.push(source);
    if (!isBelow) beside.add(target);
  }
  return beside;
}

/** By the mean place of the neighbours; those without stay where they are. */
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

/** The further an edge goes to the side, the more room it needs to look like one that goes down. */
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

/** Gives every node of a layer the place that it wants, as far as its neighbours in the layer let it; their order stays. */
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
  // What was pushed to the right goes half of the way back, with all of its layer.
  let drift = 0;
  for (const [at, node] of layer.entries()) drift += centre[node]! - wanted[at]!;
  const back = layer.length === 0 ? 0 : drift / layer.length;
  for (const node of layer) centre[node] = centre[node]! - back;
}
