import { z } from "zod";

interface Schema {
  [key: string]: unknown;
}

/** Fields that mean the same in every tool; the server's instructions describe them once. */
export const COMMON_FIELDS: ReadonlySet<string> = new Set([
  "run_id",
  "job_id",
  "workflow_id",
  "action",
  "reason",
  "hint",
  "key",
  "limit",
  "after",
  "before",
  "offset",
  "limit_bytes",
  "tail_bytes",
  "encoding",
  "source",
  "file_name",
  "name",
  "cursor",
  "dry_run",
  "scope",
  "since",
  "until",
  "label",
  "labels",
  "signature",
  "interrupted",
  "text",
  "workflow",
  "version",
  "at",
]);

/** Fields that only programs and people at a terminal need. The schema hides them, but agents may pass them. */
const UNTOLD_FIELDS: ReadonlySet<string> = new Set([
  "file_name",
  "encoding",
  "max_loops",
  "retry_max",
  "wait_ms",
]);

/**
 * The JSON Schema of a tool's input. It is short because each conversation of an agent includes the whole list of
 * tools. It leaves out what only a query string needs (words for booleans, lists with commas); the operation still
 * checks everything.
 */
export function inputSchemaOf(input: z.ZodType, more: Schema = {}): Schema & { type: "object" } {
  const written = z.toJSONSchema(input, { io: "input", unrepresentable: "any" }) as Schema;
  const { properties, required } = shortened(written) as {
    properties?: Schema;
    required?: readonly string[];
  };
  return {
    type: "object",
    properties: { ...properties, ...more },
    ...(required === undefined || required.length === 0 ? {} : { required }),
  };
}

function shortened(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(shortened);
  if (schema === null || typeof schema !== "object") return schema;
  const { anyOf, ...kept } = schema as Schema;
  const short: Schema = {};
  for (const [key, value] of Object.entries(kept))
    if (key === "properties") short[key] = shortFields(value as Schema);
    else if (key === "items") short[key] = withoutDescription(shortened(value) as Schema);
    else if (!isNoise(key, value))
      short[key] = key === "default" ? value : shortened(withoutQueryWords(value));
  return anyOf === undefined ? short : { ...short, ...oneOfThem(anyOf as readonly Schema[]) };
}

/** Drops the description of list items, because the list's own description suffices. */
function withoutDescription({ description: _, ...schema }: Schema): Schema {
  return schema;
}

/** Drops "separated by commas", because agents pass lists. */
function withoutQueryWords(value: unknown): unknown {
  return typeof value === "string" ? value.replace(/, separated by commas(?=\.)/, "") : value;
}

function shortFields(fields: Schema): Schema {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => !UNTOLD_FIELDS.has(name))
      .map(([name, field]) => [
        name,
        COMMON_FIELDS.has(name) ? bare(shortened(field) as Schema) : shortened(field),
      ]),
  );
}

/** Drops the default and the description of a common field, which the instructions describe once. */
function bare({ default: _usual, ...field }: Schema): Schema {
  return withoutDescription(field);
}

/** Drops all descriptions, for the second name of a tool. The tool under its own name has them. */
export function withoutDescriptions<Part>(schema: Part): Part {
  return JSON.parse(
    JSON.stringify(schema, (key, value) =>
      key === "description" && typeof value === "string" ? undefined : value,
    ),
  ) as Part;
}

/** Bounds that callers hardly ever exceed. The operation reports it if one does. */
const NOISE: ReadonlySet<string> = new Set([
  ...["$schema", "additionalProperties", "propertyNames", "minLength", "maxLength", "minimum", "maximum"],
  ...["exclusiveMinimum", "minItems", "maxItems"],
]);

function isNoise(key: string, value: unknown): boolean {
  return NOISE.has(key) || (key === "default" && (value === false || typeof value === "object"));
}

/** Keeps the boolean or list of a union whose other alternative is a text; otherwise lists the types side by side. */
function oneOfThem(alternatives: readonly Schema[]): Schema {
  const json = alternatives.find(({ type }) => type === "boolean" || type === "array");
  if (json !== undefined) return shortened(json) as Schema;
  const types = alternatives.map(({ type }) => type);
  if (types.every((type) => typeof type === "string"))
    return new Set(types).size === 1 ? { type: types[0] } : { type: types };
  return { anyOf: alternatives.map(shortened) };
}
