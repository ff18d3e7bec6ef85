import type { Definition } from "../../core/model/definition.js";
import type { Run } from "../../core/model/run.js";
import type { Json } from "../../core/text/json.js";
import type { Labels } from "../../core/text/labels.js";
import { loadRun } from "../../run/engine/load-run.js";
import type { Store } from "../../store/store.js";
import { noSuchStep } from "../../tell/lookup/choose-job.js";
import { givenLabels } from "../../tell/lookup/fork-source.js";
import type { Workflow } from "../workflows/workflow.js";
import { fromDefinition } from "../workflows/workflow-source.js";
import type { StartOptions } from "./start-options.js";

export interface ForkRequest {
  readonly runId: number;
  readonly step: string;
  /** By default the run's own definition. */
  readonly newer?: Workflow;
  /** Inputs that replace those of the old run. */
  readonly inputs: { readonly [name: string]: Json };
  /** In addition to the labels of the old run. */
  readonly labels: Labels;
  /** Also what another step stood in for. */
  readonly keepStoodIn?: boolean | undefined;
  readonly reason: string;
}

/** What to start to go on from a step of another run: its workflow or a newer one, with what it was started with. */
export async function forkSource(
  store: Store,
  { runId, step, newer, inputs, labels, keepStoodIn, reason }: ForkRequest,
): Promise<{ readonly workflow: Workflow; readonly options: StartOptions; readonly run: Run }> {
  const { run } = await loadRun(store, runId);
  // A run without a folder has none in a fork either, rather than this process's.
  const { file, folder } = run;
  const workflow = newer ?? { ...fromDefinition(run.definition, folder), file, folder };
  const { definition } = workflow;
  if (!definition.steps.some(({ id }) => id === step))
    throw noSuchStep(
      definition.name,
      step,
      definition.steps.map(({ id }) => id),
    );
  const { max_loops: maxLoops, retry_max: retryMax, failure_routing: failureRouting, strict } = run.options;
  return {
    run,
    workflow,
    options: {
      inputs: { ...stillDeclared(run.inputs, definition), ...inputs },
      context: run.context,
      // Without labels from its file, because a newer file may have others.
      labels: { ...givenLabels(run), ...labels },
      failureRouting,
      ...(strict === true ? { strict } : {}),
      ...(maxLoops === null ? {} : { maxLoops }),
      ...(retryMax === null ? {} : { retryMax }),
      fork: { run: runId, step, reason },
      ...(keepStoodIn === true ? { keepStoodIn } : {}),
    },
  };
}

/** A newer file may have given up an input; one that was never given has no value to hand on. */
function stillDeclared(
  inputs: { readonly [name: string]: Json },
  definition: Definition,
): { [name: string]: Json } {
  return Object.fromEntries(
    Object.entries(inputs).filter(
      ([name, value]) => value !== null && Object.hasOwn(definition.inputs, name),
    ),
  );
}
