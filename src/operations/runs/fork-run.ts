import { z } from "zod";
import { buildGraph } from "../../core/model/graph.js";
import type { Job } from "../../core/model/run.js";
import type { Json } from "../../core/text/json.js";
import { reusableJobs } from "../../tell/lookup/fork-source.js";
import { requireRun, resolveRun } from "../../tell/lookup/run-reference.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { redacted } from "../operator-words.js";
import {
  dryRun,
  fileName,
  keepStoodIn,
  key,
  labels,
  reason,
  runReference,
  source,
  variables,
} from "../schemas.js";
import { refuseVisibleSecrets } from "../workflows/check-secrets.js";
import { readTextIn } from "../workflows/workflow-source.js";
import { forkSource } from "./fork-source.js";
import {
  describeStarted,
  refuseChildrenWithoutFolder,
  requireRunner,
  startedBefore,
  startedRun,
} from "./started-run.js";

const input = z.strictObject({
  run_id: runReference,
  step: z.string().min(1).describe("The first step to run again."),
  source: source
    .optional()
    .describe("A newer text of the workflow; by default the old run's own definition."),
  file_name: fileName,
  inputs: variables.default({}).describe("Inputs that replace those of the old run."),
  labels: labels.optional().describe("Labels in addition to those of the old run."),
  reason,
  keep_stood_in: keepStoodIn,
  dry_run: dryRun,
  key: key.describe("Repeating the same key starts nothing; the answer is the run it started."),
});
type ForkRequest = z.output<typeof input>;

const forkedRun = startedRun.extend({
  run_id: z.number().describe("With `dry_run` 0: none was started."),
  plan: z
    .object({
      taken_over: z.number().describe("Completed jobs that it does not do again."),
      steps: z.array(z.string()).describe("Steps that it runs."),
    })
    .nullable()
    .describe("With `dry_run`: what the fork would do."),
});

export const forkRun = operation({
  name: "fork_run",
  summary: "start a new run from a step of another run, reusing what came before",
  description:
    "Starts a new run that takes over what another run completed before `step`, and runs the rest, with the old run's definition or with `source`.",
  role: "operator",
  effect: "changes",
  makesRun: true,
  input,
  output: forkedRun,
  rest: { method: "POST", path: "/runs/{run_id}/fork", status: 201 },
  cli: [
    {
      words: "fork",
      positional: ["run_id"],
      examples: [
        "daruma fork 3 --from deploy",
        "daruma fork last --from test --file release.yaml --input target=production",
      ],
    },
  ],
  actsOn: ({ run_id }) => [{ run: run_id }],
  handler: fork,
});

/** A new run that goes on from a step of another. */
async function fork(context: Context, { dry_run, ...request }: ForkRequest) {
  const runner = requireRunner(context);
  const known = dry_run ? { run: null, cause: {} } : await startedBefore(context, request);
  if (known.run !== null) return { ...known.run, plan: null };
  const planned = await planFork(context, request);
  const { workflow, options } = planned;
  if (dry_run) {
    const old = await describeStarted(context, await resolveRun(context.store, request.run_id));
    return { ...old, run_id: 0, status: "pending" as const, plan: planOf(planned) };
  }
  const runId = await runner.start(workflow, { ...options, ...known.cause });
  return { ...(await describeStarted(context, runId)), plan: null };
}

type PlannedFork = Awaited<ReturnType<typeof forkSource>> & { readonly taken: readonly Job[] };

function planOf({ workflow, taken }: PlannedFork) {
  const kept = new Set(taken.map(({ step }) => step.definition.id));
  const { steps: all } = buildGraph(workflow.definition);
  const steps = all
    .filter(({ atEnd, definition }) => atEnd === null && !kept.has(definition.id))
    .map(({ definition }) => definition.id);
  return { taken_over: taken.length, steps };
}

/** What a fork would start. Refusals are thrown with their codes, whether it is started or not. */
export async function planFork(
  context: Context,
  request: Omit<ForkRequest, "dry_run" | "key">,
): Promise<PlannedFork> {
  const { store } = context;
  refuseVisibleSecrets({ inputs: request.inputs as Json, labels: request.labels ?? {} });
  const runId = await resolveRun(store, request.run_id);
  const { folder } = await requireRun(store, runId);
  const { source, file_name: file } = request;
  const planned = await forkSource(store, {
    runId,
    step: request.step,
    ...(source === undefined
      ? {}
      : { newer: { ...(await readTextIn(context, source, { file, folder })), folder } }),
    inputs: request.inputs as { readonly [name: string]: Json },
    labels: request.labels ?? {},
    keepStoodIn: request.keep_stood_in,
    reason: await redacted(store, runId, request.reason),
  });
  const { workflow, run } = planned;
  refuseChildrenWithoutFolder(workflow.definition, workflow.folder);
  const taken = reusableJobs(run, request.step, buildGraph(workflow.definition), request.keep_stood_in);
  return { ...planned, taken };
}
