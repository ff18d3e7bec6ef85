import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import type { Definition } from "../../core/model/definition.js";
import type { JobStatus } from "../../core/model/rows.js";
import { draw } from "../../file/draw/drawing.js";
import { toDot, toMermaid } from "../../file/draw/graph.js";
import type { WorkflowRow } from "../../store/store.js";
import { pastRun } from "../../tell/lookup/past-run.js";
import { requireRun, resolveRun } from "../../tell/lookup/run-reference.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { at, fileName, name, runReference, source } from "../schemas.js";
import { graph } from "./graph-shape.js";
import { statusOf, summariseJobs } from "./node-jobs.js";
import { keptLines, linesOf, NO_LINES, type SourceLines } from "./source-lines.js";
import { storedDefinition, storedWorkflow, textOfRun, textOfWorkflow } from "./stored-workflows.js";
import { readTextIn } from "./workflow-source.js";

const FORMATS = ["mermaid", "dot", "json"] as const;

const input = z.strictObject({
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
  at,
  format: z.enum(FORMATS).default("mermaid").describe("The format of the picture."),
});
type GraphRequest = z.output<typeof input>;

export const workflowGraph = operation({
  name: "workflow_graph",
  summary: "draw a workflow file, or a run with its steps coloured by status",
  description:
    "Returns a picture of a workflow text, a stored workflow or a run (coloured by status), as Mermaid or Graphviz text, or as data. Give exactly one of source, workflow and run_id.",
  role: "viewer",
  effect: "reads",
  input,
  output: z.object({ format: z.enum(FORMATS), text: z.string(), graph: graph.nullable() }),
  rest: { method: "POST", path: "/workflows/graph" },
  cli: [
    {
      words: "graph",
      positional: [],
      examples: ["daruma graph release.yaml", "daruma graph last --format dot | dot -Tsvg > run.svg"],
    },
  ],
  withoutStore: "empty",
  handler: drawWorkflow,
});

interface Picture {
  readonly definition: Definition;
  readonly statuses: { readonly [step: string]: JobStatus };
  readonly jobs?: ReturnType<typeof summariseJobs>;
  readonly lines: () => Promise<SourceLines>;
}

async function drawWorkflow(context: Context, request: GraphRequest) {
  const { format } = request;
  const picture = await pictureOf(context, request);
  const { definition, statuses, jobs } = picture;
  if (format === "json") {
    const { nodes, edges } = draw(definition, statuses);
    const lines = await picture.lines();
    const graph = {
      nodes: nodes.map((node) => ({
        ...node,
        lines: lines.ofStep(node.step),
        jobs: (node.step && jobs?.get(node.step)) || null,
      })),
      edges: edges.map((edge) => ({ ...edge, lines: lines.ofEdge(edge.id) })),
    };
    return { format, text: `${JSON.stringify(graph, null, 2)}\n`, graph };
  }
  const text = format === "dot" ? toDot(definition, statuses) : toMermaid(definition, statuses);
  return { format, text, graph: null };
}

async function pictureOf(context: Context, request: GraphRequest): Promise<Picture> {
  const { store } = context;
  const { source, run_id, workflow, file_name: file } = request;
  if ([source, run_id, workflow].filter((given) => given !== undefined).length !== 1)
    throw new DarumaError("INVALID_INPUT", "give exactly one of source, run_id and workflow");
  if (request.at !== undefined && run_id === undefined)
    throw new DarumaError("INVALID_INPUT", "at needs a run");
  if (run_id !== undefined) {
    const runId = await resolveRun(store, run_id);
    const shown = request.at === undefined ? store : (await pastRun(store, runId, request.at)).store;
    return pictureOfRun({ ...context, store: shown }, runId);
  }
  if (source !== undefined) {
    const read = await readTextIn(context, source, { file, folder: "/", surveys: true });
    return { definition: read.definition, statuses: {}, lines: async () => linesOf(read.survey ?? null) };
  }
  const row = await storedWorkflow(store, workflow!, request.version);
  const lines = async () => linesIn(context, row, await textOfWorkflow(store, row));
  return { definition: (await storedDefinition(store, row)).definition, statuses: {}, lines };
}

/** Without a text there are none. */
async function linesIn(
  context: Context,
  { file }: Pick<WorkflowRow, "file">,
  text: string | null,
): Promise<SourceLines> {
  return text === null ? NO_LINES : keptLines(context, text, file);
}

async function pictureOfRun(context: Context, runId: number): Promise<Picture> {
  const { store } = context;
  const run = await requireRun(store, runId);
  const { definition } = await storedDefinition(store, { ...run, name: run.workflow });
  const jobs = summariseJobs(await store.readJobs(run.id));
  const statuses = Object.fromEntries([...jobs].map(([step, node]) => [step, statusOf(node)]));
  const lines = async () => linesIn(context, run, await textOfRun(store, run));
  return { definition, statuses, jobs, lines };
}
