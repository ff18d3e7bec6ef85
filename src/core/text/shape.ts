import { DATE_RANGE } from "./iso-time.js";
import type { Json } from "./json.js";

/**
 * What a value may be, as data: its type is derived from it here, its zod schema and JSON Schema where programs speak
 * (`operations/zod-of.ts`), and its blank where nothing is known. So a field is written down once.
 */
export type Shape<T = unknown> = Plain & {
  readonly type?: T;
  readonly note?: string;
  /** What it stands for, where a run under another number or in another place has another one. */
  readonly names?: "job" | "output";
  /** How a store keeps it as a field of a row, where its kind does not say that. */
  readonly column?: ColumnKind;
};

/** Free text may hold what a database cannot; an object may have a column for each of its keys. */
export type ColumnKind = "plain" | "mark" | "json" | "free_text" | { readonly [column: string]: string };

type Plain =
  | { readonly kind: "text" | "flag" | "json" }
  | {
      readonly kind: "number";
      readonly whole: boolean;
      readonly min: number;
      readonly max: number;
    }
  | { readonly kind: "word"; readonly words: readonly string[] | null }
  | { readonly kind: "just"; readonly value: string | boolean }
  | { readonly kind: "nullable" | "list" | "record"; readonly of: Shape }
  | { readonly kind: "lazy"; readonly of: () => Shape }
  | { readonly kind: "object"; readonly fields: Fields }
  | { readonly kind: "one"; readonly by: string; readonly of: readonly Shape[] };

export interface Optional<T = unknown> {
  readonly optional: Shape<T>;
}
export type Fields = { readonly [name: string]: Shape | Optional };

export type Of<S> = S extends Shape<infer T> ? T : never;
type Given<F extends Fields> = { readonly [K in keyof F as F[K] extends Optional ? never : K]: Of<F[K]> };
type Perhaps<F extends Fields> = {
  readonly [K in keyof F as F[K] extends Optional ? K : never]?: F[K] extends Optional<infer T> ? T : never;
};
export type OfFields<F extends Fields> = Flat<Given<F> & Perhaps<F>>;
/** Shown as its fields, not as what they are derived from: declarations would be three times as long. */
type Flat<T> = T extends infer O ? { [K in keyof O]: O[K] } : never;
/** The same while it is being made. */
export type Writable<T> = { -readonly [K in keyof T]: T[K] };

export const text: Shape<string> = { kind: "text" };
export const freeText: Shape<string> = { kind: "text", column: "free_text" };
export const flag: Shape<boolean> = { kind: "flag" };
export const json: Shape<Json> = { kind: "json" };
/** What only this program writes, and whose fields nobody else needs to know. */
export const jsonOf = <T>(): Shape<T> => ({ kind: "json" });
export const number: Shape<number> = { kind: "number", whole: false, min: -Infinity, max: Infinity };
export const id: Shape<number> = { kind: "number", whole: true, min: -Infinity, max: Infinity };
/** Stores keep these in 32 bits. */
export const count: Shape<number> = { kind: "number", whole: true, min: 0, max: 2_147_483_647 };

/** The id of a job, wherever it stands: the log of a run under another number has others. */
export const jobId = naming("job", id);
export const time: Shape<number> = { kind: "number", whole: false, min: -DATE_RANGE, max: DATE_RANGE };

/** One of these; without a list, any word: a log of another version may have others than the type names. */
export const word = <const W extends string>(words: readonly W[] | null = null): Shape<W> => ({
  kind: "word",
  words,
});
export const just = <const V extends string | boolean>(value: V): Shape<V> => ({ kind: "just", value });
export const nullable = <T>(of: Shape<T>): Shape<T | null> => ({ kind: "nullable", of });
export const list = <T>(of: Shape<T>): Shape<readonly T[]> => ({ kind: "list", of });
export const record = <T>(of: Shape<T>): Shape<{ readonly [name: string]: T }> => ({ kind: "record", of });
export const lazy = <T>(of: () => Shape<T>): Shape<T> => ({ kind: "lazy", of });
export const object = <const F extends Fields>(fields: F): Shape<OfFields<F>> => ({ kind: "object", fields });
/** Told apart by a field. */
export const one = <const S extends readonly Shape[]>(by: string, ...of: S): Shape<Of<S[number]>> => ({
  kind: "one",
  by,
  of,
});
export const optional = <T>(shape: Shape<T>): Optional<T> => ({ optional: shape });
/** All of them, or any. */
export function perhaps<F extends Fields>(fields: F) {
  const made = Object.entries(fields).map(([name, field]) => [
    name,
    "optional" in field ? field : optional(field),
  ]);
  return Object.fromEntries(made) as {
    readonly [K in keyof F]: F[K] extends Optional ? F[K] : Optional<Of<F[K]>>;
  };
}
export function pick<F extends Fields, K extends keyof F & string>(fields: F, ...names: readonly K[]) {
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<F, K>;
}
export function naming<T>(names: "job" | "output", shape: Shape<T>): Shape<T> {
  return { ...shape, names };
}
/** `{ COLUMN: KEY }`: a column of a row for each of these keys. */
export const inColumns = <T>(shape: Shape<T>, column: { readonly [column: string]: string }): Shape<T> => ({
  ...shape,
  column,
});
/** Adds a note for documents and editors. */
export const noted = <T>(shape: Shape<T>, note: string): Shape<T> => ({ ...shape, note });

/** Whether a value has this shape. Keys that it does not name may be there. */
export function fits(shape: Shape, value: unknown): boolean {
  switch (shape.kind) {
    case "json":
      return value !== undefined;
    case "text":
      return typeof value === "string";
    case "flag":
      return typeof value === "boolean";
    case "number":
      return (
        typeof value === "number" &&
        (!shape.whole || Number.isInteger(value)) &&
        value >= shape.min &&
        value <= shape.max
      );
    case "word":
      return typeof value === "string" && (shape.words === null || shape.words.includes(value));
    case "just":
      return value === shape.value;
    case "nullable":
      return value === null || fits(shape.of, value);
    case "lazy":
      return fits(shape.of(), value);
    case "list":
      return Array.isArray(value) && value.every((each) => fits(shape.of, each));
    case "record":
      return isRecord(value) && Object.values(value).every((each) => fits(shape.of, each));
    case "object":
      return fitsFields(shape.fields, value);
    case "one":
      return shape.of.some((each) => fits(each, value));
  }
}

export function fitsFields(fields: Fields, value: unknown): boolean {
  return (
    isRecord(value) &&
    Object.entries(fields).every(([name, field]) => {
      if (!("optional" in field)) return fits(field, value[name]);
      return value[name] === undefined || fits(field.optional, value[name]);
    })
  );
}

function isRecord(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** How a store keeps a field of this shape. */
export function columnKindOf(shape: Shape): ColumnKind {
  if (shape.column !== undefined) return shape.column;
  switch (shape.kind) {
    case "nullable":
      return columnKindOf(shape.of);
    case "flag":
      return "mark";
    case "text":
    case "number":
    case "word":
    case "just":
      return "plain";
    default:
      return "json";
  }
}

/** A record of which nothing is known: null where that is allowed, else empty. */
export function blank<F extends Fields>(fields: F): OfFields<F> {
  const given = Object.entries(fields).flatMap(([name, field]) =>
    "optional" in field ? [] : [[name, BLANKS[field.kind]]],
  );
  return Object.fromEntries(given) as OfFields<F>;
}

const BLANKS: { readonly [kind in Shape["kind"]]: unknown } = {
  ...{ text: "", flag: false, json: null, number: 0, word: "", just: null },
  ...{ nullable: null, list: [], record: {}, lazy: null, object: {}, one: null },
};
