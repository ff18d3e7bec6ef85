import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { adviceFor, DarumaError } from "../core/errors/errors.js";
import { InvalidInput } from "../operations/invalid-input.js";
import type { Operation } from "../operations/operation.js";
import { OPERATIONS, operationOf } from "../operations/operations.js";
import { inPublishedWords } from "../operations/published-words.js";
import { mayAct, type Role } from "../operations/roles.js";
import { withinBudget } from "./answer-budget.js";

interface Schema {
  [key: string]: unknown;
}

/** Fields that mean the same in every tool; the server's instructions describe them once. */
const COMMON_FIELDS: ReadonlySet<string> = new Set([
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
function inputSchemaOf(input: z.ZodType, more: Schema = {}): Schema & { type: "object" } {
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
function withoutDescriptions<Part>(schema: Part): Part {
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

/** Calls an operation by its name with raw input, and returns its output. */
export type CallOperation = (name: string, input: unknown) => Promise<unknown>;

const CURSOR_FIELD = { cursor: { type: "string" } };

/** The operations that a role may do, as tools. */
export function toolsFor(role: Role): Tool[] {
  return OPERATIONS.filter((operation) => isToolFor(role, operation)).flatMap(({ publishedTool, ...own }) => {
    const tool = toolOf(own);
    if (publishedTool === undefined) return [tool];
    const description = `${tool.name} under its name in Torc; a held job's status is pending_failed.`;
    const inputSchema = withoutDescriptions(tool.inputSchema);
    return [tool, { ...tool, name: publishedTool, description, inputSchema }];
  });
}

function isToolFor(role: Role, operation: Operation): boolean {
  return operation.audience !== "people" && mayAct(role, operation.role);
}

/** The tool with only what an agent needs to call it, because every conversation includes the list. */
function toolOf(operation: Operation): Tool {
  const { name, description, effect, input } = operation;
  return {
    name,
    description,
    inputSchema: inputSchemaOf(input, effect === "reads" ? CURSOR_FIELD : {}),
    annotations: effect === "reads" ? { readOnlyHint: true } : { destructiveHint: effect === "destroys" },
  };
}

/** Calls a tool. A refusal is an ordinary result that the caller can act on, not a protocol error. */
export async function callTool(
  call: CallOperation,
  role: Role,
  name: string,
  input: unknown,
): Promise<CallToolResult> {
  const operation = OPERATIONS.find((known) => known.name === name || known.publishedTool === name);
  if (operation === undefined || !isToolFor(role, operation))
    return refusal("TOOL_NOT_FOUND", `there is no tool ${name} for the role ${role}`, {
      hint: adviceFor("TOOL_NOT_FOUND").asked,
    });
  try {
    const { cursor, ...given } = (input ?? {}) as { readonly cursor?: unknown };
    const answer = await answerFor(call, operation.name, given, cursor);
    const text = JSON.stringify(name === operation.name ? answer : inPublishedWords(answer));
    return { content: [{ type: "text", text }] };
  } catch (error) {
    if (error instanceof DarumaError)
      return refusal(error.code, error.message, { hint: error.asked, ...error.details });
    if (error instanceof z.ZodError) return refusal("INVALID_INPUT", z.prettifyError(error));
    throw error;
  }
}

/** Calls an operation with the defaults for agents, which keep its answer within the budget. */
export async function answerFor(
  call: CallOperation,
  name: string,
  given: { readonly [field: string]: unknown },
  cursor?: unknown,
): Promise<object> {
  const operation = operationOf(name);
  if (cursor !== undefined && (typeof cursor !== "string" || operation.effect !== "reads"))
    throw new InvalidInput([{ path: "cursor", message: "unknown field" }], CURSOR_HINT);
  const output = await call(name, { ...operation.agentDefaults?.(given), ...given });
  const answer = operation.output instanceof z.ZodObject ? (output as object) : { result: output };
  return withinBudget(answer, { cursor, mayAskAgain: operation.effect === "reads" });
}

const CURSOR_HINT = "Only tools that read take a cursor, as text from `cut` of an earlier answer.";

function refusal(code: string, message: string, more: { hint?: string } = {}): CallToolResult {
  const told = withinBudget({ code, message, hint: null, ...more }, { mayAskAgain: false });
  return { isError: true, content: [{ type: "text", text: JSON.stringify(told) }] };
}
