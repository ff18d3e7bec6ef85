/** One state: it reads a character (`reads`), or goes on without one to every state in `next`. */
export interface PatternState {
  readonly reads: ((character: string) => boolean) | null;
  readonly at: "start" | "end" | null;
  readonly next: number[];
}

export interface PatternMachine {
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
