/** A value that goes into a statement, or comes out of it. Lists are JSON. */
export type Value = string | number | boolean | null;

interface Query {
  readonly text: string;
  readonly values: readonly Value[];
}

/**
 * A verb of the port as the questions that it asks, one after the other, within one transaction. Who carries it out knows
 * whether there is anything to wait for: SQLite has the answer at once, PostgreSQL does not.
 */
export type Verb<T> = Generator<Query, T, readonly object[]>;

/** What the databases write differently. */
export interface Dialect {
  /** The numbers of a list, as rows of `value`. */
  readonly each: (list: string) => string;
}

export function* rows<Row extends object>(text: string, ...values: readonly Value[]): Verb<readonly Row[]> {
  return (yield { text, values }) as readonly Row[];
}

export function* row<Row extends object>(text: string, ...values: readonly Value[]): Verb<Row | null> {
  return (yield* rows<Row>(text, ...values))[0] ?? null;
}

export function answerNow<T>(verb: Verb<T>, ask: (query: Query) => readonly object[]): T {
  for (let step = verb.next(); ; ) {
    if (step.done) return step.value;
    step = verb.next(ask(step.value));
  }
}

export async function answerLater<T>(
  verb: Verb<T>,
  ask: (query: Query) => Promise<readonly object[]>,
): Promise<T> {
  for (let step = verb.next([]); ; ) {
    if (step.done) return step.value;
    step = verb.next(await ask(step.value));
  }
}
