import { z } from "zod";
import { workflowJsonSchema } from "../../definition/json-schema.js";
import { operation } from "../operation.js";
import { checkWorkflow } from "../workflows/check-workflow.js";
import { drawWorkflow } from "../workflows/draw-workflow.js";
import { describeWorkflow, listWorkflowItems } from "../workflows/stored-workflows.js";
import { fileName, limit, name, problem, runReference, source } from "./schemas.js";

const amount = z.number().nullable();

export const worstCaseShape = z.object({
  steps: z.array(z.object({ step: z.string(), path: z.array(z.string()), visits: amount, attempts: amount })),
  attempts: amount,
  perItem: z.array(z.object({ path: z.array(z.string()), attempts: amount })),
  restartsPerVisit: z.number(),
});

export const checked = z.object({
  ok: z.boolean(),
  name: z.string().nullable(),
  problems: z.array(problem),
  warnings: z.array(problem),
  worst_case: worstCaseShape.nullable(),
});

export const validateWorkflow = operation({
  name: "validate_workflow",
  summary: "check workflow files: every problem at once, warnings, worst-case attempts",
  description:
    "Checks a workflow text without running or storing anything. Answers with every problem at once, each with code, line, column and what to do, with warnings, and with the most attempts that each step could take. A workflow with problems is an answer (`ok` is false), not an error.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({ source, file_name: fileName }),
  output: checked,
  rest: { method: "POST", path: "/workflows/validate" },
  cli: [
    {
      words: "validate",
      positional: [],
      examples: ["daruma validate release.yaml", "daruma validate flows/*.yaml --json"],
    },
  ],
  withoutStore: "empty",
  handler: async (context, { source: text, file_name }) =>
    structuredClone(await checkWorkflow(context, text, file_name)) as z.input<typeof checked>,
});

export const getWorkflowSchema = operation({
  name: "get_workflow_schema",
  summary: "print the JSON Schema of workflow files, for editors",
  description: "The JSON Schema of workflow files: every key, its type and what it means.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({}),
  output: z.looseObject({}),
  rest: { method: "GET", path: "/schema" },
  cli: [{ words: "schema", positional: [], examples: ["daruma schema > daruma.schema.json"] }],
  withoutStore: "empty",
  handler: async () => ({ ...workflowJsonSchema() }),
});

export const workflowGraph = operation({
  name: "workflow_graph",
  summary: "draw a workflow file, or a run coloured by the status of its steps",
  description:
    "A picture of a workflow text, a stored workflow, or a run (coloured by status) in the language of Mermaid or Graphviz. Failure routes are drawn apart from dependencies. Give exactly one of source, workflow and run_id.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    source: source.optional(),
    file_name: fileName,
    run_id: runReference.optional(),
    workflow: name.optional().describe("A stored workflow."),
    version: z.coerce
      .number()
      .int()
      .positive()
      .optional()
      .describe("Which version of it; by default the newest."),
    format: z.enum(["mermaid", "dot"]).default("mermaid").describe("Language of the picture."),
  }),
  output: z.object({ format: z.enum(["mermaid", "dot"]), text: z.string() }),
  rest: { method: "POST", path: "/workflows/graph" },
  cli: [
    {
      words: "graph",
      positional: [],
      examples: ["daruma graph release.yaml", "daruma graph last --format dot | dot -Tsvg > run.svg"],
    },
  ],
  withoutStore: "empty",
  handler: (context, input) => drawWorkflow(context, input),
});

const workflowItem = z.object({
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
    "Lists the workflows that the store knows, each with its newest version; with `name` all versions of one. `published` tells those that came from a draft from those that a run registered. `next` is the `before` of the next page.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    name: name.optional().describe("All versions of this workflow."),
    limit,
    before: z.coerce.number().int().positive().optional().describe("Only workflows with a smaller id."),
  }),
  output: z.object({ items: z.array(workflowItem), next: z.number().nullable() }),
  rest: { method: "GET", path: "/workflows" },
  cli: [
    {
      words: "workflows",
      positional: ["[name]"],
      examples: ["daruma workflows", "daruma workflows release"],
    },
  ],
  withoutStore: "empty",
  handler: ({ store }, input) => listWorkflowItems(store, input),
});

export const getWorkflow = operation({
  name: "get_workflow",
  summary: "show a stored workflow: its text, definition and versions",
  description:
    "One version of a stored workflow: the text that it was published from (null for one that a run registered), its normalised definition, its graph as nodes and edges, and the list of its versions.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    name: name.describe("The workflow's name, or its id."),
    version: z.coerce.number().int().positive().optional().describe("Which version; by default the newest."),
  }),
  output: workflowItem.extend({
    source: z.string().nullable(),
    definition: z.looseObject({}),
    graph: z.object({
      nodes: z.array(z.looseObject({ name: z.string(), label: z.string() })),
      edges: z.array(z.looseObject({ from: z.string(), to: z.string(), kind: z.string() })),
    }),
    versions: z.array(workflowItem),
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
