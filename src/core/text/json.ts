/** Plain data: what can stand in an event, an output or an expression's context. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Deeper values are refused, because they would overflow the stack of code that walks through them. */
export const MAX_JSON_LEVELS = 1_000;
/** The limit for a value within a message, a log or a command. */
export const MAX_WRAPPED_JSON_LEVELS = MAX_JSON_LEVELS + 20;

/** Whether a value has lists and objects within each other beyond so many levels. */
export function isDeeperThan(value: Json, levels: number): boolean {
  if (value === null || typeof value !== "object") return false;
  return levels === 0 || Object.values(value).some((item: Json) => isDeeperThan(item, levels - 1));
}

const NAME = /^[A-Za-z_$][\w$]*$/;

/** A value that JSON cannot hold, and where it stands: `inputs.list[2].since`. */
export class NotJson extends Error {
  constructor(
    readonly path: string,
    readonly found: string,
  ) {
    super(`${path} is ${found}, which JSON cannot hold`);
    this.name = "NotJson";
  }
}

/** The position of a value. Its path is only formatted when it is needed. */
interface ValueAt {
  readonly key: string | number;
  readonly value: unknown;
  readonly above: ValueAt | null;
  readonly level: number;
}

/**
 * A copy of what a program gave, as plain data: what is written to the log is what the run goes on with, and the program
 * may change its own afterwards. Throws NotJson where something would be lost or become something else. A property that
 * is undefined counts as left out, as TypeScript's optional ones are.
 */
export function toJson(value: unknown, name: string): Json {
  return copy({ key: name, value, above: null, level: 0 });
}

/** Made by `{}` or JSON.parse, not by a class. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function copy(place: ValueAt): Json {
  const { value } = place;
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value)) return value;
      return refuse(place, String(value));
    case "object":
      return value === null ? null : copyObject(place, value);
    default:
      return refuse(place, value === undefined ? "undefined" : `a ${typeof value}`);
  }
}

function copyObject(place: ValueAt, value: object): Json {
  for (let above = place.above; above !== null; above = above.above)
    if (above.value === value) return refuse(place, "a cycle");
  if (place.level > MAX_JSON_LEVELS) return refuse(place, `more than ${MAX_JSON_LEVELS} levels deep`);
  const inside = (key: string | number, part: unknown): Json =>
    copy({ key, value: part, above: place, level: place.level + 1 });
  // Array.from also visits holes, which JSON would turn into null.
  if (Array.isArray(value)) return Array.from(value, (item: unknown, index) => inside(index, item));
  if (!isPlainObject(value)) return refuse(place, `an object of the class ${className(value)}`);
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries.map(([key, part]) => [key, inside(key, part)]));
}

function className(value: object): string {
  const made = value as { readonly constructor?: { readonly name?: unknown } };
  return typeof made.constructor?.name === "string" && made.constructor.name !== ""
    ? made.constructor.name
    : "without a name";
}

function refuse(place: ValueAt, found: string): never {
  throw new NotJson(pathOf(place), found);
}

function pathOf({ key, above }: ValueAt): string {
  if (above === null) return String(key);
  if (typeof key === "string" && NAME.test(key)) return `${pathOf(above)}.${key}`;
  return `${pathOf(above)}[${JSON.stringify(key)}]`;
}

/** JSON with sorted keys: the same text for the same value, in whatever order its fields were given. */
export function orderedJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
