import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import { draw } from "../../file/draw/drawing.js";
import { workflowJsonSchema } from "../../file/json-schema.js";
import type { Store, WorkflowRow } from "../../store/store.js";
import { iso } from "../../tell/run-report.js";
import { operation } from "../operation.js";
import { limit, name } from "../schemas.js";
import { storedDefinition, storedWorkflow, textOfWorkflow } from "./stored-workflows.js";

const workflowShape = z.object({
  id: z.number(),
  name: z.string(),
  version: z.number(),
  file: z.string().nullable(),
  created_at: z.string(),
  published: z.boolean(),
});

export const listWorkflows = operation({
  name: "list_workflows",
  summary: "list stored workflows with their newest version",
  description:
    "Lists stored workflows, each with its newest version; with `name`, all versions of one. `published` is true for versions that came from a draft, false for those that a run registered. `next` is the `before` of the next page.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    name: name.optional().describe("All versions of this workflow."),
    limit,
    before: z.coerce.number().int().positive().optional().describe("Only workflows with a smaller id."),
  }),
  output: z.object({ items: z.array(workflowShape), next: z.number().nullable() }),
  rest: { method: "GET", path: "/workflows" },
  cli: [
    {
      words: "workflows",
      positional: ["[name]"],
      examples: ["daruma workflows", "daruma workflows release"],
    },
  ],
  store: "optional",
  handler: ({ store }, input) => listWorkflowItems(store, input),
});

export const getWorkflow = operation({
  name: "get_workflow",
  summary: "show a stored workflow: its text, definition and versions",
  description:
    "Returns one version of a stored workflow: the text it was published from (null if a run registered it), its normalised definition, its graph as nodes and edges, and the list of its versions.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    name: name.describe("The workflow's name, or its id."),
    version: z.coerce.number().int().positive().optional().describe("Which version; by default the newest."),
  }),
  output: workflowShape.extend({
    description: z.string().nullable(),
    user: z.string().nullable(),
    source: z.string().nullable(),
    text: z
      .string()
      .nullable()
      .describe("The same, or the file of the run that registered it; null if no text was kept."),
    definition: z.looseObject({}),
    graph: z.object({
      nodes: z.array(z.looseObject({ name: z.string(), label: z.string() })),
      edges: z.array(z.looseObject({ from: z.string(), to: z.string(), kind: z.string() })),
    }),
    versions: z.array(workflowShape),
  }),
  rest: { method: "GET", path: "/workflows/{name}" },
  cli: [
    {
      words: "workflow show",
      positional: ["name"],
      examples: ["daruma workflow show release", "daruma workflow show release --workflow-version 2 --json"],
    },
  ],
  handler: async ({ store }, { name: wanted, version }) => {
    const found = await describeWorkflow(store, wanted, version);
    const { nodes, edges } = found.graph;
    return {
      ...found,
      definition: { ...found.definition },
      graph: { nodes: nodes.map((node) => ({ ...node })), edges: edges.map((edge) => ({ ...edge })) },
    };
  },
});

function workflowItem({ id, name, version, file, created_at, source }: WorkflowRow) {
  return { id, name, version, file, created_at: iso(created_at), published: source !== null };
}

async function describeWorkflow(store: Store, name: number | string, version?: number) {
  const row = await storedWorkflow(store, name, version);
  const { definition } = await storedDefinition(store, row);
  const versions = await store.listWorkflows({ name: row.name });
  return {
    ...workflowItem(row),
    description: definition.description ?? null,
    user: definition.user ?? null,
    source: row.source,
    text: await textOfWorkflow(store, row),
    definition,
    graph: draw(definition),
    versions: versions.map(workflowItem),
  };
}

async function listWorkflowItems(
  store: Store,
  { name, limit, before }: { name?: string | undefined; limit: number; before?: number | undefined },
) {
  const rows = await store.listWorkflows({
    limit,
    ...(name === undefined ? {} : { name }),
    ...(before === undefined ? {} : { beforeId: before }),
  });
  return { items: rows.map(workflowItem), next: rows.length < limit ? null : rows.at(-1)!.id };
}

const handler = z.object({
  id: z.number(),
  workflow_id: z.number(),
  name: z.string(),
  rules: z.string(),
});

export const listFailureHandlers = operation({
  name: "list_failure_handlers",
  summary: "list failure handlers with their rules",
  description:
    "Lists the failure handlers of the stored workflows, or of one. `rules` is a JSON array: exit_codes, match_all_exit_codes, recovery_script, recovery_timeout_ms, max_retries. They are edited in the workflow.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    workflow_id: z.coerce.number().int().positive().optional().describe("Only those of this workflow."),
  }),
  output: z.object({ items: z.array(handler) }),
  rest: { method: "GET", path: "/failure_handlers", unprefixed: true },
  cli: [
    {
      words: "handlers",
      positional: [],
      examples: ["daruma handlers", "daruma handlers --workflow-id 2 --json"],
    },
  ],
  handler: async ({ store }, { workflow_id }) => ({ items: await store.listFailureHandlers(workflow_id) }),
});

export const getFailureHandler = operation({
  name: "get_failure_handler",
  summary: "show a failure handler",
  description: "One failure handler by its id; `rules` is a JSON array as text.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({ id: z.coerce.number().int().positive().describe("The failure handler's id.") }),
  output: handler,
  rest: { method: "GET", path: "/failure_handlers/{id}", unprefixed: true },
  cli: [{ words: "handler", positional: ["id"], examples: ["daruma handler 1"] }],
  handler: async ({ store }, { id }) => {
    const found = await store.readFailureHandler(id);
    if (found === null) throw new DarumaError("HANDLER_NOT_FOUND", `there is no failure handler ${id}`);
    return found;
  },
});

export const getWorkflowSchema = operation({
  name: "get_workflow_schema",
  summary: "print the JSON Schema of workflow files, for editors",
  description: "Returns the JSON Schema of workflow files: every key, its type and its meaning.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({}),
  output: z.looseObject({}),
  rest: { method: "GET", path: "/schema" },
  cli: [{ words: "schema", positional: [], examples: ["daruma schema > daruma.schema.json"] }],
  store: "none",
  handler: async () => ({ ...workflowJsonSchema() }),
});
