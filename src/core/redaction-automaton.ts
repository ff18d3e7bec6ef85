import type { Needle } from "./redaction-needles.js";

/** A text that may begin a well-known token; `shape` is its place in the list of shapes. */
export interface Trigger {
  readonly text: string;
  readonly shape: number;
}

/**
 * Finds every needle and trigger in one pass, whatever the input (Aho and Corasick, 1975), without regard to ASCII
 * case. The states nearest the root, where ordinary text stays, have a full row of next states: one look-up a byte. The
 * rest, deep inside secrets, keep a list of children, so that a private key of 2 KB does not cost 100 MB of rows.
 */
export interface Automaton {
  /** `rows[state << 8 | byte]`: the next state, or its complement if it is sparse or reports something. */
  readonly rows: Int32Array;
  /** How many states have a row; the others can only be stepped. */
  readonly denseStates: number;
  /** How many bytes up to here could still become a needle or a trigger. */
  readonly depth: Int32Array;
  /** The longest needle that ends here, or 0. */
  readonly needleLength: Int32Array;
  readonly needleSecret: Int32Array;
  /** The triggers that end here. */
  readonly triggers: readonly (readonly Trigger[] | undefined)[];
  /** The next state from any state. */
  step(state: number, byte: number): number;
}

const MAX_DENSE_STATES = 1_024;
const NONE = -1;

interface TrieNode {
  readonly byte: number;
  readonly depth: number;
  readonly children: TrieNode[];
  fail: number;
  secret: number;
  needleLength: number;
  triggers: readonly Trigger[] | undefined;
}

export function buildAutomaton(needles: readonly Needle[], triggers: readonly Trigger[]): Automaton {
  const root = trieNode(0, 0);
  for (const { bytes, secret } of needles) {
    const node = insert(root, bytes);
    if (node.needleLength === 0) {
      node.needleLength = bytes.length;
      node.secret = secret;
    }
  }
  for (const trigger of triggers) {
    const node = insert(root, Uint8Array.from(trigger.text, (character) => character.charCodeAt(0)));
    node.triggers = [...(node.triggers ?? []), trigger];
  }
  return linkAutomaton(root);
}

function insert(root: TrieNode, bytes: Uint8Array): TrieNode {
  let node = root;
  for (const raw of bytes) {
    const byte = foldCase(raw);
    let child = node.children.find((candidate) => candidate.byte === byte);
    if (!child) {
      child = trieNode(byte, node.depth + 1);
      node.children.push(child);
    }
    node = child;
  }
  return node;
}

/** Numbers the states level by level: a state's fail link, being nearer the root, always has a smaller number. */
function linkAutomaton(root: TrieNode): Automaton {
  const nodes: TrieNode[] = [root];
  const firstChild: number[] = [];
  for (let state = 0; state < nodes.length; state++) {
    firstChild.push(nodes.length);
    for (const child of nodes[state]!.children) nodes.push(child);
  }
  const denseStates = Math.min(nodes.length, MAX_DENSE_STATES);
  const rows = new Int32Array(denseStates << 8);

  const childOf = (state: number, byte: number): number => {
    const index = nodes[state]!.children.findIndex((child) => child.byte === byte);
    return index === -1 ? NONE : firstChild[state]! + index;
  };
  const stepSlowly = (from: number, byte: number): number => {
    const folded = foldCase(byte);
    for (let state = from; ; state = nodes[state]!.fail) {
      const child = childOf(state, folded);
      if (child !== NONE) return child;
      if (state === 0) return 0;
    }
  };
  for (let state = 0; state < nodes.length; state++) {
    const node = nodes[state]!;
    for (let index = 0; index < node.children.length; index++) {
      const child = node.children[index]!;
      child.fail = state === 0 ? 0 : stepSlowly(node.fail, child.byte);
      inheritReports(child, nodes[child.fail]!);
    }
  }
  fillRows(rows, nodes, firstChild, denseStates);
  return {
    rows,
    denseStates,
    depth: Int32Array.from(nodes, (node) => node.depth),
    needleLength: Int32Array.from(nodes, (node) => node.needleLength),
    needleSecret: Int32Array.from(nodes, (node) => node.secret),
    triggers: nodes.map((node) => node.triggers),
    step(state, byte) {
      let at = state;
      const folded = foldCase(byte);
      while (at >= denseStates) {
        const child = childOf(at, folded);
        if (child !== NONE) return child;
        at = nodes[at]!.fail;
      }
      const next = rows[(at << 8) | byte]!;
      return next < 0 ? ~next : next;
    },
  };
}

/** What ends at a state's fail link ends at the state too. Of needles the longest is enough: it covers the others. */
function inheritReports(node: TrieNode, fail: TrieNode): void {
  if (node.needleLength === 0 && fail.needleLength > 0) {
    node.needleLength = fail.needleLength;
    node.secret = fail.secret;
  }
  if (fail.triggers) node.triggers = [...(node.triggers ?? []), ...fail.triggers];
}

function fillRows(rows: Int32Array, nodes: readonly TrieNode[], firstChild: readonly number[], denseStates: number): void {
  for (let state = 0; state < denseStates; state++) {
    const node = nodes[state]!;
    if (state > 0) rows.copyWithin(state << 8, node.fail << 8, (node.fail + 1) << 8);
    for (let index = 0; index < node.children.length; index++) {
      const child = node.children[index]!;
      const target = firstChild[state]! + index;
      const isPlain = target < denseStates && child.needleLength === 0 && !child.triggers;
      const entry = isPlain ? target : ~target;
      rows[(state << 8) | child.byte] = entry;
      
    }
  }
}

function trieNode(byte: number, depth: number): TrieNode {
  return { byte, depth, children: [], fail: 0, secret: NONE, needleLength: 0, triggers: undefined };
}

function foldCase(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}

function upperCase(byte: number): number {
  return byte >= 0x61 && byte <= 0x7a ? byte - 0x20 : byte;
}
