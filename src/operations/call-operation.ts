import { DarumaError } from "../core/errors/errors.js";
import type { Context } from "./context.js";
import { checkInput } from "./invalid-input.js";
import { operationOf } from "./operations.js";
import { perform } from "./perform.js";
import { mayAct } from "./roles.js";

/** Executes one operation by its name if the caller may do so. The input is unchecked. */
export async function callOperation(context: Context, name: string, input: unknown): Promise<unknown> {
  const operation = operationOf(name);
  const { role } = context.principal;
  if (!mayAct(role, operation.role))
    throw new DarumaError("FORBIDDEN", `${name} needs the role ${operation.role}, not ${role}`);
  const hint = `The input schema of the tool ${name} lists its fields.`;
  return perform(operation, context, checkInput(operation, input, hint));
}
