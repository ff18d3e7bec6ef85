import { z } from "zod";
import { type RunReference, requireRun, resolveRun } from "../../tell/lookup/run-reference.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { json, runReference } from "../schemas.js";
import { storedDefinition, textOfRun } from "../workflows/stored-workflows.js";

export const getRunDefinition = operation({
  name: "get_run_definition",
  summary: "print the definition that a run uses",
  description:
    "Returns the definition that the run was started with, as Daruma normalised it, with its hash, inputs and options. It never changes, even if the file does.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({ run_id: runReference }),
  output: z.object({
    run_id: z.number(),
    workflow: z.string(),
    workflow_id: z.number(),
    definition_hash: z.string(),
    inputs: json,
    options: json,
    definition: z.looseObject({}),
    text: z.string().nullable().describe("The workflow file as it was written; null if no text was kept."),
  }),
  rest: { method: "GET", path: "/runs/{run_id}/definition" },
  cli: [{ words: "definition", positional: ["run_id"], examples: ["daruma definition 3"] }],
  handler: (context, { run_id }) => runDefinition(context, run_id),
});

async function runDefinition({ store }: Context, reference: RunReference) {
  const run = await requireRun(store, await resolveRun(store, reference));
  const { definition } = await storedDefinition(store, { ...run, name: run.workflow });
  const { id, workflow, workflow_id, definition_hash, inputs, options } = run;
  return {
    run_id: id,
    workflow,
    workflow_id,
    definition_hash,
    inputs,
    options,
    definition: { ...definition },
    text: await textOfRun(store, run),
  };
}
