/**
 * A workflow file as data that remembers where each value stands. Files and the builder both become this, so that one
 * set of readers serves both. `at` is an offset into the text, or NOWHERE.
 */
export type SourceNode = SourceMap | SourceList | SourceScalar;

export interface SourceMap {
  readonly kind: "map";
  readonly at: number;
  readonly entries: readonly SourceEntry[];
  /** Keys that stand here a second time; the readers report them because only they know what the map is. */
  readonly repeated: readonly RepeatedKey[];
}

export interface SourceEntry {
  readonly key: string;
  readonly keyAt: number;
  readonly value: SourceNode;
}

export interface RepeatedKey {
  readonly key: string;
  readonly at: number;
  readonly firstAt: number;
}

export interface SourceList {
  readonly kind: "list";
  readonly at: number;
  readonly items: readonly SourceNode[];
}

export interface SourceScalar {
  readonly kind: "scalar";
  readonly at: number;
  readonly value: string | number | boolean | null;
  /** The value as written, so that `1.10` or a very long number taken as text loses nothing. */
  readonly written: string;
  readonly style: "plain" | "quoted" | "literal" | "folded";
}

export const NOWHERE = -1;

export function findEntry(map: SourceMap, key: string): SourceEntry | undefined {
  return map.entries.find((entry) => entry.key === key);
}

/** Finds places by path. Maps are indexed when first asked for: thousands of steps may be looked up. */
export class Locator {
  private readonly indexes = new Map<SourceMap, ReadonlyMap<string, SourceEntry>>();

  constructor(private readonly root: SourceNode) {}

  /** The place of the path, or of its longest part that exists, which is where a person should look. */
  locate(segments: readonly (string | number)[]): number {
    let node = this.root;
    let at = node.at;
    for (const segment of segments) {
      if (node.kind === "map") {
        const entry = this.indexOf(node).get(String(segment));
        if (entry === undefined) return at;
        node = entry.value;
        at = entry.keyAt;
      } else if (node.kind === "list" && typeof segment === "number" && node.items[segment] !== undefined) {
        node = node.items[segment];
        at = node.at;
      } else return at;
    }
    return at;
  }

  /** Whether the path is written out. */
  has(segments: readonly (string | number)[]): boolean {
    let node: SourceNode | undefined = this.root;
    for (const segment of segments) {
      if (node?.kind === "map") node = this.indexOf(node).get(String(segment))?.value;
      else node = node?.kind === "list" ? node.items[segment as number] : undefined;
    }
    return node !== undefined;
  }

  private indexOf(map: SourceMap): ReadonlyMap<string, SourceEntry> {
    const known = this.indexes.get(map);
    if (known !== undefined) return known;
    const index = new Map(map.entries.map((entry) => [entry.key, entry]));
    this.indexes.set(map, index);
    return index;
  }
}

/** Null where the tree does not have the path. */
export function nodeAt(root: SourceNode, segments: readonly (string | number)[]): SourceNode | null {
  let node: SourceNode | undefined = root;
  for (const segment of segments) {
    if (node?.kind === "map") node = findEntry(node, String(segment))?.value;
    else node = node?.kind === "list" ? node.items[segment as number] : undefined;
  }
  return node ?? null;
}

/** What a message calls the value that was found. */
export function describeNode(node: SourceNode): string {
  if (node.kind === "map") return "a map";
  if (node.kind === "list") return "a list";
  if (node.value === null) return "nothing";
  if (typeof node.value === "string") return "text";
  return typeof node.value === "number" ? "a number" : `\`${node.value}\``;
}
