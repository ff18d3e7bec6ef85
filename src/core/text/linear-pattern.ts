import { messageOf } from "./message-of.js";

/** One state: it reads a character (`reads`), or goes on without one to every state in `next`. */
interface PatternState {
  readonly reads: ((character: string) => boolean) | null;
  readonly at: "start" | "end" | null;
  readonly next: number[];
}

interface PatternMachine {
  readonly states: readonly PatternState[];
  readonly first: number;
  readonly last: number;
}

/**
 * The limit for one value, at about 10 ns per unit. It is enough for an output of 16 MiB and any pattern that people
 * write.
 */
export const MAX_SCHEMA_WORK = 20_000_000;
/** What it takes to look at a state; a character whose way is known takes 1. */
const STATE_COST = 3;
/** States in remembered sets; 4 bytes each. Beyond it everything is forgotten and found again. */
const MAX_REMEMBERED_STATES = 1_000_000;

export class SchemaTooCostly extends Error {}

/** What one check of a value against its schema may cost, patterns and all. A count, not a clock: the same value has the same verdict always. */
export class SchemaWork {
  spent = 0;
  private readonly matchers = new Map<PatternMachine, Matcher>();

  spend(units: number): void {
    this.spent += units;
    if (this.spent > MAX_SCHEMA_WORK) throw new SchemaTooCostly("the check takes too much work");
  }

  matcherOf(machine: PatternMachine): Matcher {
    let matcher = this.matchers.get(machine);
    if (matcher === undefined) {
      matcher = new Matcher(machine, this);
      this.matchers.set(machine, matcher);
    }
    return matcher;
  }
}

/** All the states that a text can have led to: together one state of a machine that has only one at a time. */
interface StateSet {
  readonly states: readonly number[];
  readonly accepts: boolean;
  /** By character; filled when a character first occurs. */
  readonly next: Map<string, StateSet>;
}

/** Follows all ways at once; where they led is remembered, so that a character mostly costs one look-up. */
class Matcher {
  private readonly marked: Uint16Array;
  private sets = new Map<string, StateSet>();
  private remembered = 0;

  constructor(
    private readonly machine: PatternMachine,
    private readonly work: SchemaWork,
  ) {
    this.marked = new Uint16Array(Math.ceil(machine.states.length / 16));
  }

  matches(text: string): boolean {
    let set = this.setAt([this.machine.first], true, text === "");
    for (const character of text) {
      if (set.accepts) return true;
      this.work.spend(1);
      set = set.next.get(character) ?? this.step(set, character);
    }
    return set.accepts || this.setAt(set.states, text === "", true).accepts;
  }

  private step(from: StateSet, character: string): StateSet {
    const { states, first } = this.machine;
    const verdicts = new Map<PatternState["reads"], boolean>();
    // A match may begin at every character.
    const reached = [first];
    this.work.spend(STATE_COST * from.states.length);
    for (const state of from.states) {
      const { reads, next } = states[state]!;
      if (reads === null) continue;
      let fits = verdicts.get(reads);
      if (fits === undefined) {
        fits = reads(character);
        verdicts.set(reads, fits);
      }
      if (fits) reached.push(...next);
    }
    const set = this.remember(this.setAt(reached, false, false));
    from.next.set(character, set);
    return set;
  }

  /** These states and all that can be reached from them without reading. `marked` says which afterwards. */
  private setAt(from: readonly number[], isStart: boolean, isEnd: boolean): StateSet {
    const { states, last } = this.machine;
    this.marked.fill(0);
    const reached: number[] = [];
    const add = (state: number): void => {
      const bit = 1 << (state & 15);
      if ((this.marked[state >> 4]! & bit) !== 0) return;
      this.marked[state >> 4]! |= bit;
      reached.push(state);
    };
    for (const state of from) add(state);
    for (let index = 0; index < reached.length; index += 1) {
      const { reads, at, next } = states[reached[index]!]!;
      if (reads !== null || (at === "start" && !isStart) || (at === "end" && !isEnd)) continue;
      for (const target of next) add(target);
    }
    this.work.spend(STATE_COST * reached.length);
    const accepts = (this.marked[last >> 4]! & (1 << (last & 15))) !== 0;
    return { states: reached, accepts, next: new Map() };
  }

  private remember(set: StateSet): StateSet {
    const key = String.fromCharCode(...this.marked);
    const known = this.sets.get(key);
    this.remembered += known === undefined ? set.states.length : 1;
    if (this.remembered > MAX_REMEMBERED_STATES) {
      this.sets = new Map();
      this.remembered = 0;
    }
    if (known !== undefined) return known;
    this.sets.set(key, set);
    return set;
  }
}

// Written by hand: patterns come from workflow files, and matching must take linear time, which a RegExp does not
// guarantee.

/**
 * Regular expressions that cannot be made to hang. A schema's `pattern` meets whatever a step printed, and the engine's
 * own `RegExp` can take exponential time for a text of 30 characters; this one follows all ways at once (Thompson,
 * 1968), so a match costs at most text length times pattern size, and no more than SchemaWork allows. Look-around, back
 * references, `\b` and `\p` have no place in it and are refused.
 */
export interface LinearPattern {
  /** Whether the pattern occurs anywhere in the text, as JSON Schema has it. Throws SchemaTooCostly. */
  test(text: string, work?: SchemaWork): boolean;
}

export const MAX_PATTERN_STATES = 2_000;

/** A part of the machine: entered at `first`, left from `last`, whose `next` is still open. */
interface Part {
  readonly first: number;
  readonly last: number;
}

/** The pattern, or why there is none. */
export function compilePattern(source: string): LinearPattern | { readonly refused: string } {
  try {
    new RegExp(source, "u");
    const machine = new PatternReader(source).read();
    return { test: (text, work = new SchemaWork()) => work.matcherOf(machine).matches(text) };
  } catch (error) {
    return { refused: messageOf(error) };
  }
}

class PatternReader {
  private readonly states: PatternState[] = [];
  private readonly source: readonly string[];
  /** By source text: a class that many states wait for is tested once per character. */
  private readonly classes = new Map<string, NonNullable<PatternState["reads"]>>();
  private at = 0;

  constructor(source: string) {
    this.source = Array.from(source);
  }

  read(): PatternMachine {
    const { first, last } = this.alternatives();
    return { states: this.states, first, last };
  }

  private add(state: Partial<PatternState> = {}): number {
    if (this.states.length >= MAX_PATTERN_STATES) throw new Error("the pattern is too large");
    return this.states.push({ reads: null, at: null, next: [], ...state }) - 1;
  }

  private link(from: number, to: number): void {
    this.states[from]!.next.push(to);
  }

  private alternatives(): Part {
    const first = this.add();
    const last = this.add();
    do {
      const branch = this.sequence();
      this.link(first, branch.first);
      this.link(branch.last, last);
    } while (this.accept("|"));
    return { first, last };
  }

  private sequence(): Part {
    const first = this.add();
    let last = first;
    while (this.at < this.source.length && this.source[this.at] !== "|" && this.source[this.at] !== ")") {
      const part = this.repeated();
      this.link(last, part.first);
      last = part.last;
    }
    return { first, last };
  }

  private repeated(): Part {
    const start = this.at;
    const atom = this.atom();
    const end = this.at;
    const [min, max] = this.quantifier();
    if (min === 1 && max === 1) return atom;
    const resume = this.at;
    // Each repeat is a copy of its own: the atom is read again from the source.
    const copy = (): Part => {
      this.at = start;
      const part = this.atom();
      this.at = end;
      return part;
    };
    const first = this.add();
    const last = this.add();
    let tail = first;
    for (let count = 0; count < min; count++) {
      const part = count === 0 ? atom : copy();
      this.link(tail, part.first);
      tail = part.last;
    }
    this.link(tail, last);
    if (max === Number.POSITIVE_INFINITY) {
      const loop = min === 0 ? atom : copy();
      this.link(tail, loop.first);
      this.link(loop.last, loop.first);
      this.link(loop.last, last);
    } else {
      for (let count = min; count < max; count++) {
        const part = count === 0 ? atom : copy();
        this.link(tail, part.first);
        tail = part.last;
        this.link(tail, last);
      }
    }
    this.at = resume;
    return { first, last };
  }

  private quantifier(): readonly [number, number] {
    const bounds = this.bounds();
    if (bounds) this.accept("?");
    return bounds ?? [1, 1];
  }

  private bounds(): readonly [number, number] | null {
    if (this.accept("*")) return [0, Number.POSITIVE_INFINITY];
    if (this.accept("+")) return [1, Number.POSITIVE_INFINITY];
    if (this.accept("?")) return [0, 1];
    const counted = /^\{(\d+)(,?)(\d*)\}/.exec(this.source.slice(this.at, this.at + 24).join(""));
    if (!counted) return null;
    this.at += counted[0].length;
    const min = Number(counted[1]);
    if (!counted[2]) return [min, min];
    return [min, counted[3] ? Number(counted[3]) : Number.POSITIVE_INFINITY];
  }

  private atom(): Part {
    const character = this.source[this.at++];
    if (character === "^" || character === "$")
      return this.single({ at: character === "^" ? "start" : "end" });
    if (character === "(") return this.group();
    const start = this.at - 1;
    if (character === "[") this.skipClass();
    else if (character === "\\") this.skipEscape();
    const text = this.source.slice(start, this.at).join("");
    return this.single({ reads: this.classOf(text) });
  }

  private classOf(text: string): NonNullable<PatternState["reads"]> {
    const known = this.classes.get(text);
    if (known !== undefined) return known;
    const one = new RegExp(`^${text}$`, "u");
    const isPlain = text.length === 1 && text !== ".";
    const reads = isPlain ? (read: string) => read === text : (read: string) => one.test(read);
    this.classes.set(text, reads);
    return reads;
  }

  private single(state: Partial<PatternState>): Part {
    const first = this.add(state);
    const last = this.add();
    this.link(first, last);
    return { first, last };
  }

  private group(): Part {
    if (this.accept("?") && !this.accept(":"))
      throw new Error("look-around and named groups are not supported");
    const part = this.alternatives();
    this.accept(")");
    return part;
  }

  private skipClass(): void {
    while (this.source[this.at] !== "]") {
      if (this.source[this.at] === "\\") {
        this.at++;
        this.skipEscape();
      } else this.at++;
    }
    this.at++;
  }

  /** Just behind the backslash. */
  private skipEscape(): void {
    const kind = this.source[this.at++]!;
    if (/[1-9kbBpP]/.test(kind)) throw new Error(`\\${kind} is not supported`);
    if (kind === "x") this.at += 2;
    else if (kind === "c") this.at += 1;
    else if (kind === "u" && this.source[this.at] === "{") while (this.source[this.at++] !== "}");
    else if (kind === "u") this.at += 4;
  }

  private accept(character: string): boolean {
    if (this.source[this.at] !== character) return false;
    this.at++;
    return true;
  }
}
