import { z } from "zod";
import type { Fields, Of, Optional, Shape } from "../../core/text/shape.js";

export interface Strictness {
  /** What happens to keys that the shape does not name: refused, dropped, or kept. */
  readonly others: "refused" | "dropped" | "kept";
  /** Limit for every text. */
  readonly maxChars?: number;
}

const made = new WeakMap<Shape, Map<string, z.ZodType>>();

/**
 * Converts a shape of the core to a schema that checks and documents. The same shape gives the same schema, so that a
 * recursive one ends in a reference.
 */
export function zodOf<T>(shape: Shape<T>, how: Strictness): SameType<T> {
  const ofShape = made.get(shape) ?? new Map<string, z.ZodType>();
  made.set(shape, ofShape);
  const key = `${how.others} ${how.maxChars}`;
  const known = ofShape.get(key) ?? noted(shape, schemaOf(shape, how));
  ofShape.set(key, known);
  return known as SameType<T>;
}

function noted({ note }: Shape, schema: z.ZodType): z.ZodType {
  return note === undefined ? schema : schema.describe(note);
}

/** What goes in comes out. */
export interface SameType<T> extends z.ZodType<T, T> {}
type SchemaOf<F> = [F] extends [Optional<infer T>] ? z.ZodExactOptional<SameType<T>> : SameType<Of<F>>;

export function zodFields<F extends Fields>(fields: F, how: Strictness): { [K in keyof F]: SchemaOf<F[K]> } {
  const entries = Object.entries(fields).map(([name, field]) => [
    name,
    "optional" in field ? zodOf(field.optional, how).exactOptional() : zodOf(field, how),
  ]);
  return Object.fromEntries(entries) as { [K in keyof F]: SchemaOf<F[K]> };
}

function schemaOf(shape: Shape, how: Strictness): z.ZodType {
  switch (shape.kind) {
    case "text":
      return how.maxChars === undefined ? z.string() : z.string().max(how.maxChars);
    case "flag":
      return z.boolean();
    case "json":
      return z.custom((given) => given !== undefined, "Invalid input: expected a value");
    case "number": {
      const { whole, min, max } = shape;
      const base = whole ? z.int() : z.number();
      // An infinite limit is none, and would be null in a JSON Schema.
      const above = Number.isFinite(min) ? base.min(min) : base;
      return Number.isFinite(max) ? above.max(max) : above;
    }
    case "word":
      return shape.words === null ? z.string() : z.enum(shape.words as [string]);
    case "just":
      return z.literal(shape.value);
    case "nullable":
      return zodOf(shape.of, how).nullable();
    case "list":
      return z.array(zodOf(shape.of, how));
    case "record":
      return z.record(z.string(), zodOf(shape.of, how));
    case "lazy":
      return z.lazy(() => zodOf(shape.of(), how));
    case "object":
      return objectOf(shape.fields, how);
    case "one":
      return z.discriminatedUnion(shape.by, shape.of.map((each) => zodOf(each, how)) as never);
  }
}

export function objectOf(fields: Fields, how: Strictness): z.ZodObject {
  const given = zodFields(fields, how);
  if (how.others === "refused") return z.strictObject(given);
  return how.others === "kept" ? z.looseObject(given) : z.object(given);
}
