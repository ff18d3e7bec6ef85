import { messageOf } from "./message-of.js";
/**
 * Regular expressions that cannot be made to hang. A schema's `pattern` meets whatever a step printed, and the engine's
 * own `RegExp` can take exponential time for a text of 30 characters; this one follows all ways at once (Thompson,
 * 1968), so a match costs at most text length times pattern size. Look-around, back references, `\b` and `\p` have no
 * place in it and are refused.
 */
export interface LinearPattern {
  /** Whether the pattern occurs anywhere in the text, as JSON Schema has it. */
  test(text: string): boolean;
}

export const MAX_PATTERN_STATES = 2_000;

/** One state: it reads a character (`reads`), or goes on without one to every state in `next`. */
interface State {
  readonly reads: ((character: string) => boolean) | null;
  readonly at: "start" | "end" | null;
  readonly next: number[];
}

/** A part of the machine: entered at `first`, left from `last`, whose `next` is still open. */
interface Part {
  readonly first: number;
  readonly last: number;
}

/** The pattern, or why there is none. */
export function compilePattern(source: string): LinearPattern | { readonly refused: string } {
  try {
    new RegExp(source, "u");
    const machine = new PatternMachine(source);
    return { test: (text) => machine.matches(text) };
  } catch (error) {
    return { refused: messageOf(error) };
  }
}

class PatternMachine {
  private readonly states: State[] = [];
  private readonly source: readonly string[];
  private at = 0;
  private readonly whole: Part;

  constructor(source: string) {
    this.source = Array.from(source);
    this.whole = this.alternatives();
  }

  matches(text: string): boolean {
    const characters = Array.from(text);
    let current = new Set<number>();
    for (let place = 0; place <= characters.length; place++) {
      current.add(this.whole.first);
      const reached = this.closure(current, place === 0, place === characters.length);
      if (reached.has(this.whole.last)) return true;
      current = new Set();
      for (const state of reached) {
        const { reads, next } = this.states[state]!;
        if (reads && place < characters.length && reads(characters[place]!))
          for (const target of next) current.add(target);
      }
    }
    return false;
  }

  private closure(from: Set<number>, isStart: boolean, isEnd: boolean): Set<number> {
    const reached = new Set(from);
    // A set is walked in the order of insertion, so states added on the way are visited too.
    for (const state of reached) {
      const { reads, at, next } = this.states[state]!;
      const isBlocked = reads !== null || (at === "start" && !isStart) || (at === "end" && !isEnd);
      if (!isBlocked) for (const target of next) reached.add(target);
    }
    return reached;
  }

  private add(state: Partial<State> = {}): number {
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
    const one = new RegExp(`^${text}$`, "u");
    return this.single({
      reads: text.length === 1 && !".".includes(text) ? (read) => read === text : (read) => one.test(read),
    });
  }

  private single(state: Partial<State>): Part {
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
