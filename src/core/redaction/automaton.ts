import { BREAKS } from "./bytes.js";
import type { Needle } from "./needles.js";

/** A text that may begin a well-known token; `shape` is its place in the list of shapes. */
export interface Trigger {
  readonly text: string;
  readonly shape: number;
}

/**
 * Finds every needle and trigger in one pass, whatever the input (Aho and Corasick, 1975), without regard to ASCII
 * case. The states nearest the root, where ordinary text stays, have a full row of next states: one look-up a byte. The
 * rest, deep inside secrets, look through their children, so that a private key does not cost 100 MB of rows.
 */
export interface Automaton {
  /** `rows[state << 8 | byte]`: the next state, or its complement if it is sparse, reports something, or a line breaks in a needle. */
  readonly rows: Int32Array;
  /** How many states have a row; the others can only be stepped. */
  readonly denseStates: number;
  /** How many bytes up to here could still become a needle or a trigger. */
  readonly depth: Int32Array;
  /** At this depth and beyond, a needle that meets a line break is followed over it. */
  readonly followedFrom: number;
  /** The longest needle that ends here, or 0. */
  readonly needleLength: Int32Array;
  readonly needleSecret: Int32Array;
  /** The triggers that end here. */
  readonly triggers: readonly (readonly Trigger[] | undefined)[];
  /** The next state from any state. */
  step(state: number, byte: number): number;
}

/** What ends at each state. */
interface Reports {
  readonly needleLength: Int32Array;
  readonly needleSecret: Int32Array;
  readonly triggers: (readonly Trigger[] | undefined)[];
}

const MAX_DENSE_STATES = 1_024;
const NONE = -1;
/** How much of a needle must come before a line break for the search to continue on the next line. */
const MIN_BEFORE_BREAK_BYTES = 3;

export function buildAutomaton(needles: readonly Needle[], triggers: readonly Trigger[]): Automaton {
  const triggerBytes = triggers.map(({ text }) =>
    Uint8Array.from(text, (character) => character.charCodeAt(0)),
  );
  const trie = buildTrie([...needles.map(({ bytes }) => bytes), ...triggerBytes]);
  const reports = ownReports(trie, needles, triggers);
  const fail = linkFails(trie);
  for (let state = 1; state < trie.states; state++) inheritReports(reports, state, fail[state]!);
  const denseStates = Math.min(trie.states, MAX_DENSE_STATES);
  const followedFrom = needles.length === 0 ? Number.POSITIVE_INFINITY : MIN_BEFORE_BREAK_BYTES;
  const rows = fillRows(trie, fail, reports, { denseStates, followedFrom });
  return {
    rows,
    denseStates,
    depth: trie.depth,
    followedFrom,
    ...reports,
    step(from, byte) {
      let state = from;
      for (const folded = foldCase(byte); state >= denseStates; state = fail[state]!) {
        const child = childOf(trie, state, folded);
        if (child !== NONE) return child;
      }
      const next = rows[(state << 8) | byte]!;
      return next < 0 ? ~next : next;
    },
  };
}

function ownReports(trie: Trie, needles: readonly Needle[], triggers: readonly Trigger[]): Reports {
  const needleLength = new Int32Array(trie.states);
  const needleSecret = new Int32Array(trie.states);
  const triggersAt: (readonly Trigger[] | undefined)[] = new Array(trie.states).fill(undefined);
  needles.forEach(({ bytes, secret }, index) => {
    const state = trie.ends[index]!;
    // Two secrets may share a spelling; the first one listed gives the name.
    if (needleLength[state] === 0) needleSecret[state] = secret;
    needleLength[state] = bytes.length;
  });
  triggers.forEach((trigger, index) => {
    const state = trie.ends[needles.length + index]!;
    triggersAt[state] = [...(triggersAt[state] ?? []), trigger];
  });
  return { needleLength, needleSecret, triggers: triggersAt };
}

/**
 * For each state, the longest other state that is a suffix of it. It is nearer to the root, so its number is smaller.
 */
function linkFails(trie: Trie): Int32Array {
  const fail = new Int32Array(trie.states);
  for (let parent = 1; parent < trie.states; parent++) {
    for (let child = trie.childStart[parent]!; child < trie.childStart[parent + 1]!; child++) {
      let state = fail[parent]!;
      let target = childOf(trie, state, trie.byte[child]!);
      while (target === NONE && state !== 0) {
        state = fail[state]!;
        target = childOf(trie, state, trie.byte[child]!);
      }
      fail[child] = target === NONE ? 0 : target;
    }
  }
  return fail;
}

/** What ends at a state's fail link ends at the state too. Of needles the longest is enough: it covers the others. */
function inheritReports(
  { needleLength, needleSecret, triggers }: Reports,
  state: number,
  fail: number,
): void {
  if (needleLength[state] === 0 && needleLength[fail]! > 0) {
    needleLength[state] = needleLength[fail]!;
    needleSecret[state] = needleSecret[fail]!;
  }
  const inherited = triggers[fail];
  if (inherited) triggers[state] = [...(triggers[state] ?? []), ...inherited];
}

function fillRows(
  trie: Trie,
  fail: Int32Array,
  reports: Reports,
  { denseStates, followedFrom }: Pick<Automaton, "denseStates" | "followedFrom">,
): Int32Array {
  const rows = new Int32Array(denseStates << 8);
  for (let state = 0; state < denseStates; state++) {
    if (state > 0) rows.copyWithin(state << 8, fail[state]! << 8, (fail[state]! + 1) << 8);
    for (let child = trie.childStart[state]!; child < trie.childStart[state + 1]!; child++) {
      const isSilent = reports.needleLength[child] === 0 && !reports.triggers[child];
      const entry = child < denseStates && isSilent ? child : ~child;
      rows[(state << 8) | trie.byte[child]!] = entry;
      rows[(state << 8) | upperCase(trie.byte[child]!)] = entry;
    }
    if (trie.depth[state]! >= followedFrom)
      for (const byte of BREAKS) rows[(state << 8) | byte] = stopping(rows[(state << 8) | byte]!);
  }
  return rows;
}

function stopping(entry: number): number {
  return entry < 0 ? entry : ~entry;
}

function childOf(trie: Trie, state: number, byte: number): number {
  const end = trie.childStart[state + 1]!;
  for (let child = trie.childStart[state]!; child < end; child++) if (trie.byte[child] === byte) return child;
  return NONE;
}

function upperCase(byte: number): number {
  return byte >= 0x61 && byte <= 0x7a ? byte - 0x20 : byte;
}

/**
 * A trie of byte strings, without regard to ASCII case, in a few flat arrays: a private key in all its spellings has
 * 120,000 states, and as objects they took 0.7 s to build.
 */
interface Trie {
  readonly states: number;
  /** The byte that leads to a state. States are numbered level by level; the root is 0. */
  readonly byte: Uint8Array;
  readonly depth: Int32Array;
  /** The children of a state are those from `childStart[state]` to before `childStart[state + 1]`. */
  readonly childStart: Int32Array;
  /** The state in which each of the strings ends. */
  readonly ends: Int32Array;
}

function foldCase(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}

function buildTrie(strings: readonly Uint8Array[]): Trie {
  const most = strings.reduce((total, { length }) => total + length, 1);
  const byte = new Uint8Array(most);
  const firstChild = new Int32Array(most);
  const nextSibling = new Int32Array(most);
  const ends = new Int32Array(strings.length);
  let nodes = 1;
  strings.forEach((string, index) => {
    let node = 0;
    for (const raw of string) {
      const folded = foldCase(raw);
      let child = firstChild[node]!;
      while (child !== 0 && byte[child] !== folded) child = nextSibling[child]!;
      if (child === 0) {
        child = nodes++;
        byte[child] = folded;
        nextSibling[child] = firstChild[node]!;
        firstChild[node] = child;
      }
      node = child;
    }
    ends[index] = node;
  });
  return numberByLevel(nodes, byte, firstChild, nextSibling, ends);
}

function numberByLevel(
  nodes: number,
  byte: Uint8Array,
  firstChild: Int32Array,
  nextSibling: Int32Array,
  ends: Int32Array,
): Trie {
  const nodeOf = new Int32Array(nodes);
  const stateOf = new Int32Array(nodes);
  const depth = new Int32Array(nodes);
  const childStart = new Int32Array(nodes + 1);
  let numbered = 1;
  for (let state = 0; state < nodes; state++) {
    childStart[state] = numbered;
    for (let child = firstChild[nodeOf[state]!]!; child !== 0; child = nextSibling[child]!) {
      nodeOf[numbered] = child;
      stateOf[child] = numbered;
      depth[numbered] = depth[state]! + 1;
      numbered++;
    }
  }
  childStart[nodes] = numbered;
  return {
    states: nodes,
    byte: Uint8Array.from(nodeOf, (node) => byte[node]!),
    depth,
    childStart,
    ends: ends.map((node) => stateOf[node]!),
  };
}
