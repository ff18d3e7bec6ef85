import type { z } from "zod";
import { requireOwnRuns } from "../tell/lookup/own-runs.js";
import type { Context } from "./context.js";
import { once } from "./once.js";
import type { Operation } from "./operation.js";

/** Executes an operation for every interface. The input has already been checked against its schema. */
export async function perform(
  operation: Operation,
  context: Context,
  input: z.output<Operation["input"]>,
): Promise<unknown> {
  await requireOwnRuns(context.store, operation.actsOn?.(input) ?? []);
  const act = (): Promise<unknown> => {
    if (operation.makesRun === true) context.admitRun?.();
    return operation.handler(context, input);
  };
  const { key, dry_run } = input as { readonly key?: string; readonly dry_run?: boolean };
  if (operation.idempotent !== true || key === undefined || dry_run === true) return act();
  return once(operation, context, { ...input, key }, act);
}
