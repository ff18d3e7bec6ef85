import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { DarumaError } from "../core/errors.js";
import type { Operation } from "../operations/operation.js";
import { mayAct, type Role } from "../operations/roles.js";
import { OPERATIONS } from "../operations/table/operations.js";

/** Does an operation by its name; input as it came, output as the operation gives it. */
export type CallOperation = (name: string, input: unknown) => Promise<unknown>;

/** The operations that a role may do, as tools. */
export function toolsFor(role: Role): Tool[] {
  return OPERATIONS.filter((operation) => mayAct(role, operation.role)).map(toolOf);
}

function toolOf(operation: Operation): Tool {
  const { name, summary, description, effect } = operation;
  return {
    name,
    title: summary,
    description,
    inputSchema: objectSchema(operation.input, "input"),
    outputSchema: objectSchema(shownOutput(operation), "output"),
    annotations: {
      readOnlyHint: effect === "reads",
      destructiveHint: effect === "destroys",
      openWorldHint: false,
    },
  };
}

/** A tool's result must be an object: what is none is put into one. */
function shownOutput({ output }: Operation): z.ZodType {
  return output instanceof z.ZodObject ? output : z.object({ result: output });
}

function objectSchema(schema: z.ZodType, io: "input" | "output"): Tool["inputSchema"] {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return { ...rest, type: "object" } as Tool["inputSchema"];
}

/** A refusal is an answer that the caller can act on, not a fault of the protocol. */
export async function callTool(
  call: CallOperation,
  role: Role,
  name: string,
  input: unknown,
): Promise<CallToolResult> {
  const operation = OPERATIONS.find((known) => known.name === name);
  if (operation === undefined || !mayAct(role, operation.role))
    return refusal("TOOL_NOT_FOUND", `there is no tool ${name} for the role ${role}`);
  try {
    const output = await call(name, input ?? {});
    const structured = operation.output instanceof z.ZodObject ? output : { result: output };
    return {
      content: [{ type: "text", text: JSON.stringify(structured) }],
      structuredContent: structured as { [key: string]: unknown },
    };
  } catch (error) {
    if (error instanceof DarumaError) return refusal(error.code, error.message, error.hint);
    if (error instanceof z.ZodError) return refusal("INVALID_INPUT", z.prettifyError(error));
    throw error;
  }
}

function refusal(code: string, message: string, hint?: string | null): CallToolResult {
  return {
    isError: true,
    content: [{ type: "text", text: JSON.stringify({ code, message, hint: hint ?? null }) }],
  };
}
