import type { z } from "zod";
import { requireOwnRuns } from "../report/lookup/own-runs.js";
import type { Context } from "./context.js";
import type { Operation } from "./operation.js";

/** Every door does its operations by this. The input has been checked against its schema. */
export async function perform(
  operation: Operation,
  context: Context,
  input: z.output<Operation["input"]>,
): Promise<unknown> {
  if (operation.makesRun === true) context.admitRun?.();
  await requireOwnRuns(context.store, operation.actsOn?.(input) ?? []);
  return operation.handler(context, input);
}
