import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { adviceFor, DarumaError } from "../core/errors/errors.js";
import { InvalidInput } from "../operations/invalid-input.js";
import type { Operation } from "../operations/operation.js";
import { OPERATIONS, operationOf } from "../operations/operations.js";
import { inPublishedWords } from "../operations/published-words.js";
import { mayAct, type Role } from "../operations/roles.js";
import { withinBudget } from "./answer-budget.js";
import { inputSchemaOf, withoutDescriptions } from "./tool-schema.js";

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
  return operation.onlyForPeople !== true && mayAct(role, operation.role);
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
  const output = await call(name, { ...operation.forAgents?.(given), ...given });
  const answer = operation.output instanceof z.ZodObject ? (output as object) : { result: output };
  return withinBudget(answer, { cursor, mayAskAgain: operation.effect === "reads" });
}

const CURSOR_HINT = "Only tools that read take a cursor, as text from `cut` of an earlier answer.";

function refusal(code: string, message: string, more: { hint?: string } = {}): CallToolResult {
  const told = withinBudget({ code, message, hint: null, ...more }, { mayAskAgain: false });
  return { isError: true, content: [{ type: "text", text: JSON.stringify(told) }] };
}
