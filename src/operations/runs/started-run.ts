import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import type { Definition } from "../../core/model/definition.js";
import { requireRun } from "../../tell/lookup/run-reference.js";
import type { Context, Runner } from "../context.js";
import { runStatus } from "../schemas.js";
import { NO_FOLDER } from "../workflows/choose-workflow.js";
import { causeOfKey, findRunOf } from "./run-cause.js";
import type { StartOptions } from "./start-options.js";

/** A run that has begun. */
export const startedRun = z.object({
  run_id: z.number(),
  workflow: z.string(),
  workflow_id: z.number(),
  version: z.number(),
  status: runStatus,
  folder: z
    .string()
    .nullable()
    .describe(
      "The folder its steps run in and relative paths start from; null: its own folder on each worker.",
    ),
});

export async function describeStarted({ store }: Context, runId: number) {
  const run = await requireRun(store, runId);
  const { version } = (await store.readWorkflow(run.workflow_id))!;
  const { workflow, workflow_id, status, folder } = run;
  return {
    run_id: runId,
    workflow,
    workflow_id,
    version,
    status,
    folder: folder === NO_FOLDER ? null : folder,
  };
}

type Started = Awaited<ReturnType<typeof describeStarted>>;

/** What was asked for counts, not what it meant then: a newer version of a workflow makes the same request no other. */
export async function startedBefore(
  context: Context,
  { key, ...asked }: { readonly key?: string | undefined },
): Promise<{ readonly run: Started | null; readonly cause: Pick<StartOptions, "cause"> }> {
  if (key === undefined) return { run: null, cause: {} };
  const cause = causeOfKey(key, asked);
  const first = await findRunOf(context.store, cause);
  return { run: first === null ? null : await describeStarted(context, first), cause: { cause } };
}

export function requireRunner({ runner }: Pick<Context, "runner">): Runner {
  if (runner === null) throw new DarumaError("NO_RUNNER", "this process cannot run workflows");
  return runner;
}

/** A server's run that has no folder would find no child's file, however long it has run by then. */
export function refuseChildrenWithoutFolder({ steps }: Definition, folder: string): void {
  const step = steps.find(({ action }) => action.type === "workflow");
  if (folder !== "" || step === undefined) return;
  throw new DarumaError(
    "FOLDER_NEEDED",
    `step ${step.id} runs another file, but the run has no folder to find it in`,
  );
}
