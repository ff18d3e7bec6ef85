// Written by hand: patterns come from workflow files, and matching must take linear time, which a RegExp does not
// guarantee.
import { messageOf } from "./message-of.js";
import { type PatternMachine, type PatternState, SchemaWork } from "./pattern-matcher.js";

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
