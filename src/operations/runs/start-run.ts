import { dirname, isAbsolute, resolve } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import type { Json } from "../../core/text/json.js";
import { type RunReference, requireRun, resolveRun } from "../../report/lookup/run-reference.js";
import type { Context, Runner } from "../context.js";
import { redacted } from "../operator-words.js";
import { refuseVisibleSecrets } from "../workflows/check-secrets.js";
import { refuseChildrenWithoutFolder } from "../workflows/child-file.js";
import { publishedWorkflow, storedDefinition } from "../workflows/stored-workflows.js";
import { fromDefinition, readTextIn, type Workflow } from "../workflows/workflow-source.js";
import { forkSource } from "./fork-source.js";
import { causeOfKey, findRunOf } from "./run-cause.js";
import type { StartOptions } from "./start-options.js";

type Variables = { readonly [name: string]: unknown };

export interface StartRequest {
  readonly workflow?: number | string | undefined;
  readonly version?: number | undefined;
  readonly source?: string | undefined;
  readonly file_name: string;
  readonly folder?: string | undefined;
  readonly inputs: Variables;
  readonly context: Variables;
  readonly max_loops?: number | undefined;
  readonly retry_max?: number | undefined;
  readonly failure_routing: boolean;
  readonly only?: string | undefined;
  readonly key?: string | undefined;
}

export interface ForkAsked {
  readonly run_id: RunReference;
  readonly step: string;
  readonly source?: string | undefined;
  readonly file_name: string;
  readonly inputs: Variables;
  readonly reason: string;
  readonly key?: string | undefined;
}

/** A stored workflow, or a text that was sent along, as a new run. */
export async function startRun(context: Context, request: StartRequest) {
  const runner = requireRunner(context);
  refuseVisibleSecrets({ inputs: request.inputs as Json, context: request.context as Json });
  const known = await startedBefore(context, request);
  if (known.run !== null) return known.run;
  const { max_loops, retry_max, only } = request;
  const options: StartOptions = {
    inputs: request.inputs as StartOptions["inputs"] & object,
    context: request.context as StartOptions["context"] & object,
    failureRouting: request.failure_routing,
    ...(max_loops === undefined ? {} : { maxLoops: max_loops }),
    ...(retry_max === undefined ? {} : { retryMax: retry_max }),
    ...(only === undefined ? {} : { only }),
    ...known.cause,
  };
  const workflow = await chooseWorkflow(context, request);
  refuseChildrenWithoutFolder(workflow.definition, workflow.folder);
  return started(context, await runner.start(workflow, options));
}

/** A new run that goes on from a step of another. */
export async function forkRun(context: Context, request: ForkAsked) {
  const runner = requireRunner(context);
  refuseVisibleSecrets({ inputs: request.inputs as Json });
  const { store } = context;
  const known = await startedBefore(context, request);
  if (known.run !== null) return known.run;
  const runId = await resolveRun(store, request.run_id);
  const { folder } = await requireRun(store, runId);
  const { source, file_name: file } = request;
  const { workflow, options } = await forkSource(store, {
    runId,
    step: request.step,
    ...(source === undefined
      ? {}
      : { newer: { ...(await readTextIn(context, source, { file, folder })), folder } }),
    inputs: request.inputs as { readonly [name: string]: Json },
    reason: await redacted(store, runId, request.reason),
  });
  refuseChildrenWithoutFolder(workflow.definition, workflow.folder);
  return started(context, await runner.start(workflow, { ...options, ...known.cause }));
}

/** What was asked for counts, not what it meant then: a newer version of a workflow makes the same request no other. */
async function startedBefore(
  context: Context,
  { key, ...asked }: StartRequest | ForkAsked,
): Promise<{ readonly run: Started | null; readonly cause: Pick<StartOptions, "cause"> }> {
  if (key === undefined) return { run: null, cause: {} };
  const cause = causeOfKey(key, asked);
  const first = await findRunOf(context.store, cause);
  return { run: first === null ? null : await started(context, first), cause: { cause } };
}

type Started = Awaited<ReturnType<typeof started>>;

function requireRunner({ runner }: Context): Runner {
  if (runner === null) throw new DarumaError("NO_RUNNER", "nothing stays here that could run a workflow");
  return runner;
}

async function started({ store }: Context, runId: number) {
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

/** A workflow that came as text has none: each worker gives the run's steps a folder of its own. */
const NO_FOLDER = "";

type WorkflowChoice = Pick<StartRequest, "workflow" | "version" | "source" | "folder" | "file_name">;
type Place = Pick<Context, "store" | "outputDir" | "customActions" | "workflowReader">;

export async function chooseWorkflow(context: Place, request: WorkflowChoice): Promise<Workflow> {
  const { workflow, version, source, folder, file_name: file } = request;
  if ((workflow === undefined) === (source === undefined))
    throw new DarumaError(
      "INVALID_INPUT",
      "give either workflow, the name of a stored one, or source, its text",
    );
  if (folder !== undefined && !isAbsolute(folder))
    throw new DarumaError("INVALID_INPUT", `folder: ${folder} is no absolute path`);
  if (source !== undefined) {
    const read = await readTextIn(context, source, { file, folder: folder ?? context.outputDir });
    if (folder === undefined) return { ...read, folder: NO_FOLDER };
    // Who says so has taken the text from there, and can give a newer one from there.
    return isAbsolute(file) && dirname(file) === resolve(folder) ? { ...read, file } : read;
  }
  const row = await publishedWorkflow(context.store, workflow!, version);
  const { definition, text } = await storedDefinition(context.store, row);
  const place = folder ?? (row.file === null ? NO_FOLDER : dirname(row.file));
  const stored = { hash: row.definition_hash, text, file: row.file, folder: place };
  return { ...fromDefinition(definition, place), ...stored };
}
