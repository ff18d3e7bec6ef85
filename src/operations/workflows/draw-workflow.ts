import { DarumaError } from "../../core/errors/errors.js";
import type { Definition } from "../../core/model/definition.js";
import type { JobStatus } from "../../core/model/rows.js";
import { toDot, toMermaid } from "../../definition/draw/graph.js";
import { type RunReference, requireRun, resolveRun } from "../../report/lookup/run-reference.js";
import type { Store } from "../../store/store.js";
import type { Context } from "../context.js";
import { storedDefinition, storedWorkflow } from "./stored-workflows.js";
import { readTextIn } from "./workflow-source.js";

export interface GraphRequest {
  readonly source?: string | undefined;
  readonly file_name: string;
  readonly run_id?: RunReference | undefined;
  readonly workflow?: string | undefined;
  readonly version?: number | undefined;
  readonly format: "mermaid" | "dot";
}

type Statuses = { readonly [step: string]: JobStatus };
interface Picture {
  readonly definition: Definition;
  readonly statuses: Statuses;
}

/** A step may have a job in each branch; the one that most needs a look gives the colour. */
const MOST_TELLING: readonly JobStatus[] = [
  "failed",
  "pending_failed",
  "running",
  "recovering",
  "waiting",
  "canceled",
  "ready",
  "blocked",
  "completed",
  "skipped",
];

export async function drawWorkflow(context: Context, request: GraphRequest) {
  const { format } = request;
  const { definition, statuses } = await pictureOf(context, request);
  return { format, text: format === "dot" ? toDot(definition, statuses) : toMermaid(definition, statuses) };
}

async function pictureOf(context: Context, request: GraphRequest): Promise<Picture> {
  const { store } = context;
  const { source, run_id, workflow, file_name: file } = request;
  if ([source, run_id, workflow].filter((given) => given !== undefined).length !== 1)
    throw new DarumaError("INVALID_INPUT", "give exactly one of source, run_id and workflow");
  if (run_id !== undefined) return pictureOfRun(store, await resolveRun(store, run_id));
  if (source !== undefined)
    return {
      definition: (await readTextIn(context, source, { file, folder: "/" })).definition,
      statuses: {},
    };
  const row = await storedWorkflow(store, workflow!, request.version);
  return { definition: (await storedDefinition(store, row)).definition, statuses: {} };
}

async function pictureOfRun(store: Store, runId: number): Promise<Picture> {
  const run = await requireRun(store, runId);
  const { definition } = await storedDefinition(store, { ...run, name: run.workflow });
  const statuses: { [step: string]: JobStatus } = {};
  for (const { step, status } of await store.readJobs(run.id)) {
    const before = Object.hasOwn(statuses, step) ? statuses[step]! : status;
    statuses[step] = MOST_TELLING.indexOf(status) < MOST_TELLING.indexOf(before) ? status : before;
  }
  return { definition, statuses };
}
