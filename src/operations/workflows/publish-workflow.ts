import { createHash } from "node:crypto";
import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import { failureHandlersOf } from "../../core/evolve/projections.js";
import { InvalidWorkflow } from "../../file/invalid-workflow.js";
import type { Store, WorkflowRow } from "../../store/store.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { scheduleRows, syncSchedules } from "../schedules/schedule-rows.js";
import { key, problem } from "../schemas.js";
import { draftName, requireDraft, revision } from "./drafts.js";
import { storedDefinition } from "./stored-workflows.js";
import { checkDraft, fileOf } from "./validate-draft.js";
import type { Workflow } from "./workflow.js";
import { readTextIn } from "./workflow-source.js";

export const publishWorkflow = operation({
  name: "publish_workflow",
  summary: "publish a draft as the newest version of its workflow",
  description:
    "Publishes the draft as the newest version of its workflow. Runs started by name use it from now on; current runs keep their version. A draft with problems is refused, with a list of them. The draft stays, for further editing.",
  role: "operator",
  effect: "changes",
  keepsAnswer: true,
  input: z.strictObject({
    name: draftName,
    revision: revision.min(1).optional().describe("Only if the draft is still at this revision."),
    key,
  }),
  output: z.object({
    name: z.string(),
    workflow_id: z.number(),
    version: z.number(),
    revision: z.number(),
    warnings: z.array(problem),
  }),
  rest: { method: "POST", path: "/workflows/{name}/publish", status: 201 },
  cli: [
    {
      words: "workflow publish",
      positional: ["name"],
      examples: ["daruma workflow publish release --revision 4"],
    },
  ],
  handler: publish,
});

/** The draft becomes the newest version of the workflow. It stays, to go on from. */
async function publish(
  context: Context,
  { name, revision }: { name: string; revision?: number | undefined },
) {
  const { store } = context;
  const draft = await requireDraft(store, name);
  if (revision !== undefined && revision !== draft.revision)
    throw new DarumaError(
      "DRAFT_CONFLICT",
      `the draft ${name} is at revision ${draft.revision}, not ${revision}`,
    );
  const { ok, problems } = await checkDraft(context, name);
  if (!ok) throw new InvalidWorkflow(fileOf(name), problems);
  const workflow = await readTextIn(context, draft.source, {
    file: fileOf(name),
    folder: context.outputDir,
  });
  const versions = await store.listWorkflows({ name });
  const registered = await store.registerWorkflow({
    name,
    hash: await hashFor(store, versions, workflow, draft.source),
    definition: workflow.text,
    file: null,
    source: draft.source,
    at: context.now(),
    failureHandlers: failureHandlersOf(workflow.definition),
  });
  const { workflowId, version } = registered;
  await syncSchedules(scheduleRows(store, context), { name, version }, workflow.definition);
  return {
    name,
    workflow_id: workflowId,
    version,
    revision: draft.revision,
    warnings: workflow.warnings,
  };
}

/**
 * A store knows versions by their hash. What is published must be the newest version, also where the same definition
 * was one before, or only a comment has changed; but publishing the newest version once more is no new one.
 */
async function hashFor(
  store: Store,
  versions: readonly WorkflowRow[],
  { hash, text }: Workflow,
  source: string,
): Promise<string> {
  const newest = versions[0];
  if (newest === undefined) return hash;
  const isSame = (await storedDefinition(store, newest)).text === text;
  if (isSame && (newest.source === null || newest.source === source)) return newest.definition_hash;
  if (versions.every((row) => row.definition_hash !== hash)) return hash;
  return createHash("sha256").update(`${text}\n${source}\n${newest.id}`).digest("hex");
}
