import { createHash } from "node:crypto";
import { basename } from "node:path";
import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import type { Definition } from "../../core/model/definition.js";
import { flowOf } from "../../core/model/flow.js";
import type { JobRow, JobStatus } from "../../core/model/rows.js";
import { type CalledSteps, calledSteps } from "../../file/draw/called-steps.js";
import { DRAWN_EDGE, DRAWN_NODE, draw } from "../../file/draw/drawing.js";
import { toDot, toMermaid } from "../../file/draw/graph.js";
import { InvalidWorkflow } from "../../file/invalid-workflow.js";
import type { Lines, Survey } from "../../file/survey.js";
import { loadRun } from "../../run/engine/load-run.js";
import type { WorkflowRow } from "../../store/store.js";
import { pastRun } from "../../tell/lookup/past-run.js";
import { requireRun, resolveRun } from "../../tell/lookup/run-reference.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { at, fileName, jobStatus, json, name, recordOf, runReference, source } from "../schemas.js";
import { storedDefinition, storedWorkflow, textOfRun, textOfWorkflow } from "./stored-workflows.js";
import type { Reading } from "./workflow.js";
import { readTextIn } from "./workflow-source.js";

/** A fan-out with more items has no cells: nobody could tell them apart. */
const MAX_CELLS = 60;

/** The jobs of one step of a run, without listing them. */
const nodeJobs = z.object({
  total: z.number(),
  counts: z.partialRecord(jobStatus, z.number()).describe("How many have each status."),
  handled: z.number().describe("Failed, and the failure was handled."),
  again: z.number().describe("Completed with more than one attempt."),
  attempts: z.number().describe("Of all of them."),
  cells: z
    .array(z.object({ scope: z.string(), status: jobStatus, again: z.boolean(), handled: z.boolean() }))
    .describe(`Each job in the order of its items, if there are at most ${MAX_CELLS}; else empty.`),
});
type NodeJobs = z.output<typeof nodeJobs>;

/** Counts of jobs by the step that is drawn for them. */
function summariseJobs(jobs: readonly JobRow[], calls: CalledSteps | null): Map<string, NodeJobs> {
  const found = new Map<string, NodeJobs>();
  for (const { id, step: name, scope, status, handled, attempt_id: attempts } of jobs) {
    const step = calls?.drawnAs.get(id) ?? name;
    let node = found.get(step);
    if (node === undefined) {
      node = { total: 0, counts: {}, handled: 0, again: 0, attempts: 0, cells: [] };
      found.set(step, node);
    }
    const isHandled = status === "failed" && handled;
    const again = status === "completed" && attempts > 1;
    node.total += 1;
    node.counts[status] = (node.counts[status] ?? 0) + 1;
    if (isHandled) node.handled += 1;
    if (again) node.again += 1;
    node.attempts += attempts;
    if (node.total <= MAX_CELLS) node.cells.push({ scope, status, again, handled: isHandled });
  }
  for (const node of found.values()) if (node.total > MAX_CELLS) node.cells = [];
  return found;
}

/** A step may have a job in each branch; the one that most needs a look gives the colour. */
const MOST_TELLING: readonly JobStatus[] = [
  "failed",
  "held",
  "running",
  "recovering",
  "waiting",
  "canceled",
  "ready",
  "blocked",
  "completed",
  "skipped",
];

function statusOf({ counts }: NodeJobs): JobStatus {
  return MOST_TELLING.find((status) => (counts[status] ?? 0) > 0) ?? "blocked";
}

const node = recordOf(DRAWN_NODE);
const edge = recordOf(DRAWN_EDGE);

const lines = z
  .object({ first: z.number(), last: z.number() })
  .nullable()
  .describe("The lines of the text that it stands in, from 1; null: no text was kept.");

/** A workflow or a run as nodes and edges. */
const graph = z.object({
  nodes: z.array(
    node.extend({
      lines,
      jobs: nodeJobs
        .nullable()
        .describe("The jobs of the step in this run; null: there is no run, or no job."),
    }),
  ),
  edges: z.array(edge.extend({ lines })),
});

/** A text that may have problems, as far as it can be read, with the lines that everything stands in. */
export const survey = z.object({
  nodes: z.array(node.extend({ lines })),
  edges: z.array(
    edge.extend({
      lines,
      transition: z.number().nullable().describe("Its number in the list of transitions, from 1."),
      when: json.nullable().describe("Of a transition: its condition as data."),
      taken: z.string().nullable().describe("Of a transition: when it is taken."),
    }),
  ),
});

/** The lines of a workflow's steps and edges in its text. */
interface SourceLines {
  readonly ofStep: (step: string | null) => Lines | null;
  readonly ofEdge: (id: string) => Lines | null;
}

/** Cached by the hash of the text. */
const KNOWN = new Map<string, SourceLines>();
const MAX_KNOWN = 100;

const NO_LINES: SourceLines = { ofStep: () => null, ofEdge: () => null };

function linesOf(survey: Survey | null): SourceLines {
  if (survey === null) return NO_LINES;
  const steps = new Map(survey.nodes.map(({ step, lines }) => [step, lines]));
  const edges = new Map(survey.edges.map(({ id, lines }) => [id, lines]));
  return {
    ofStep: (step) => (step === null ? null : (steps.get(step) ?? null)),
    ofEdge: (id) => edges.get(id) ?? null,
  };
}

/** The lines of a stored text. A run's graph is drawn again with every event, so its text is read once. */
async function keptLines(reading: Reading, text: string, file: string | null): Promise<SourceLines> {
  const name = basename(file ?? "workflow.yaml");
  const hash = createHash("sha256").update(`${name}\n${text}`).digest("hex");
  const known = KNOWN.get(hash);
  if (known !== undefined) return known;
  const found = linesOf(await surveyIn(reading, text, name));
  if (KNOWN.size >= MAX_KNOWN) KNOWN.delete(KNOWN.keys().next().value!);
  KNOWN.set(hash, found);
  return found;
}

/** A text that an older Daruma took may have problems by now: it is shown as far as it can be read. */
async function surveyIn(reading: Reading, text: string, file: string): Promise<Survey | null> {
  try {
    return (await readTextIn(reading, text, { file, folder: "/", surveys: true })).survey ?? null;
  } catch (error) {
    if (error instanceof InvalidWorkflow) return error.survey;
    throw error;
  }
}

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
  store: "optional",
  handler: drawWorkflow,
});

interface Picture {
  readonly definition: Definition;
  readonly statuses: { readonly [step: string]: JobStatus };
  readonly jobs?: ReturnType<typeof summariseJobs>;
  /** By step of the picture: its name in the run, where that is another. */
  readonly named?: CalledSteps["named"];
  readonly lines: () => Promise<SourceLines>;
}

async function drawWorkflow(context: Context, request: GraphRequest) {
  const { format } = request;
  const picture = await pictureOf(context, request);
  const { definition, statuses, jobs, named } = picture;
  if (format === "json") {
    const { nodes, edges } = draw(definition, statuses);
    const lines = await picture.lines();
    const graph = {
      nodes: nodes.map((node) => ({
        ...node,
        step: named?.get(node.step ?? "") ?? node.step,
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
  const stored = (await storedDefinition(store, { ...run, name: run.workflow })).definition;
  // What a program has called is in no definition.
  const isFlow = stored.steps.some(({ action }) => flowOf(action.type) !== null);
  const calls = isFlow ? calledSteps((await loadRun(store, runId)).run) : null;
  const { definition, named } = calls ?? { definition: stored, named: undefined };
  const jobs = summariseJobs(await store.readJobs(run.id), calls);
  const statuses = Object.fromEntries([...jobs].map(([step, node]) => [step, statusOf(node)]));
  const lines = async () => linesIn(context, run, await textOfRun(store, run));
  return { definition, statuses, jobs, lines, ...(named === undefined ? {} : { named }) };
}
