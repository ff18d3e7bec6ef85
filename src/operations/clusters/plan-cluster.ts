import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import type { Definition } from "../../core/model/definition.js";
import type { Job, Run } from "../../core/model/run.js";
import { messageOf } from "../../core/text/message-of.js";
import type { ClusterSettings } from "../../file/settings/settings.js";
import { isRefusal, type Target } from "../../fleet/allocations/provider.js";
import { bindSchedulers, planLanes } from "../../fleet/allocations/requests/plan-lanes.js";
import { specOf } from "../../fleet/allocations/scale/allocation-spec.js";
import { clusterOf, type Demand, demandOf } from "../../fleet/allocations/scale/demand.js";
import type { ScalePlan } from "../../fleet/allocations/scale/plan-allocations.js";
import { ReplayedRun, readLog } from "../../tell/lookup/replayed-log.js";
import { requireRun, resolveRun } from "../../tell/lookup/run-reference.js";
import type { ClusterControl, Context } from "../context.js";
import { type Answer, operation } from "../operation.js";
import { fileName, flag, key, runReference, source } from "../schemas.js";
import { storedDefinition } from "../workflows/stored-workflows.js";
import { readTextIn } from "../workflows/workflow-source.js";

const input = z.strictObject({
  source: source.optional(),
  file_name: fileName,
  run_id: runReference.optional(),
  dry_run: flag.default(false).describe("Only show what would be submitted."),
  key,
});
type PlanRequest = z.output<typeof input>;

const planned = z.object({
  cluster: z.string(),
  type: z.string(),
  num_nodes: z.number(),
  cpus: z.number(),
  memory_bytes: z.number(),
  gpus: z.number(),
  runtime_ms: z.number(),
  steps: z.array(z.string()),
  reason: z.string(),
  command: z.string(),
  script: z.string(),
  warnings: z.array(z.string()),
});

export const planCluster = operation({
  name: "plan_cluster",
  summary: "plan allocations for a workflow file or a run",
  description:
    "Plans allocations for a workflow text or a run's ready jobs. Without `dry_run` the server submits them.",
  details:
    "Without `dry_run` a run must be named. What is submitted is what all ready jobs of that server need; it waits for no cooldown and no threshold.",
  role: "operator",
  effect: "changes",
  idempotent: true,
  input,
  output: z.object({
    dry_run: z.boolean(),
    items: z.array(planned),
    waits: z.array(z.object({ cluster: z.string(), kind: z.string(), message: z.string() })),
    impossible: z.array(z.object({ cluster: z.string(), step: z.string(), reason: z.string() })),
  }),
  rest: { method: "POST", path: "/clusters/plan" },
  cli: [
    {
      words: "cluster plan",
      positional: [],
      examples: [
        "daruma cluster plan sweep.yaml --dry-run --config daruma.config.yaml",
        "daruma cluster plan last --server http://login1:7420",
      ],
    },
  ],
  store: "optional",
  actsOn: ({ run_id }) => (run_id === undefined ? [] : [{ run: run_id }]),
  handler: plan,
});

async function plan(context: Context, request: PlanRequest) {
  const { clusters } = context;
  if (clusters == null || clusters.settings.length === 0)
    throw new DarumaError("CLUSTER_NOT_FOUND", "no clusters are known here");
  const { jobs, definition } = await jobsOf(context, clusters, request);
  const names = new Map(jobs.map((job) => [job.id, job.step.definition.id]));
  const answer = emptyAnswer(request.dry_run);
  for (const settings of clusters.settings) {
    const demands = jobs.flatMap((job) =>
      clusterOf(job, clusters.settings, definition) === settings ? [demandOf(job, definition)] : [],
    );
    const scale = await scaleOf(clusters, settings, demands, request.dry_run);
    const stepOf = (id: number): string => names.get(id) ?? `job ${id}`;
    if (scale !== null) await describe(answer, clusters, settings, scale, stepOf);
  }
  return answer;
}

function emptyAnswer(dryRun: boolean) {
  return {
    dry_run: dryRun,
    items: [] as Answer<typeof planned>[],
    waits: [] as { cluster: string; kind: string; message: string }[],
    impossible: [] as { cluster: string; step: string; reason: string }[],
  };
}

async function scaleOf(
  clusters: ClusterControl,
  settings: ClusterSettings,
  demands: readonly Demand[],
  dryRun: boolean,
): Promise<ScalePlan | null> {
  if (!dryRun) return clusters.planNow(settings.name);
  if (demands.length === 0) return null;
  const targets = await targetsOf(clusters, settings.name);
  const history = { suspended: null, failures: 0, retryAt: null, submittedAt: null };
  return planLanes({
    ...{ settings, targets, demands, live: [], history, now: 0, byHand: true, refused: new Map() },
  });
}

async function describe(
  answer: ReturnType<typeof emptyAnswer>,
  clusters: ClusterControl,
  settings: ClusterSettings,
  scale: ScalePlan,
  stepOf: (job: number) => string,
): Promise<void> {
  const { name: cluster, type } = settings;
  const targets = await targetsOf(clusters, cluster);
  for (const { shape, jobs, reason, settings: own = settings } of scale.submit) {
    const place = { key: `daruma-${cluster}-KEY`, folder: `/FOLDER/daruma-${cluster}-KEY`, nodes: [] };
    const made = clusters.planOf(
      cluster,
      specOf(own, { shape }, { ...place, server: clusters.server() }),
      targets,
    );
    if (isRefusal(made)) {
      answer.waits.push({ cluster, kind: made.refused, message: made.message });
      continue;
    }
    answer.items.push({
      ...{ cluster, type, num_nodes: shape.nodes, cpus: shape.cpus, memory_bytes: shape.memoryBytes },
      ...{ gpus: shape.gpus, runtime_ms: shape.runtimeMs, steps: jobs.map(stepOf), reason },
      ...{ command: made.argv.join(" "), script: made.script, warnings: made.warnings },
    });
  }
  if (scale.waits !== null) answer.waits.push({ cluster, ...scale.waits });
  for (const { jobId, reason } of scale.impossible)
    answer.impossible.push({ cluster, step: stepOf(jobId), reason });
}

/** A batch system that does not answer is no fault of Daruma. */
async function targetsOf(clusters: ClusterControl, name: string): Promise<readonly Target[]> {
  try {
    return await clusters.targets(name);
  } catch (error) {
    if (error instanceof DarumaError) throw error;
    throw new DarumaError("CLUSTER_UNREACHABLE", `${name}: ${messageOf(error)}`, { cause: error });
  }
}

type PlannedJob = Pick<Job, "id" | "step" | "raised">;

async function jobsOf(
  context: Context,
  clusters: ClusterControl,
  { source: text, run_id, file_name, dry_run }: PlanRequest,
): Promise<{ readonly jobs: readonly PlannedJob[]; readonly definition: Definition }> {
  if ((text === undefined) === (run_id === undefined))
    throw new DarumaError("INVALID_INPUT", "give exactly one of source and run_id");
  if (run_id !== undefined) {
    const run = await replay(context, await resolveRun(context.store, run_id));
    return { jobs: [...run.ready], definition: run.definition };
  }
  if (!dry_run)
    throw new DarumaError("INVALID_INPUT", "allocations can be submitted only for a run, not for a file", {
      hint: "Start the run: the server makes allocations for it. To see the plan for a file, ask for a dry run.",
    });
  const read = await readTextIn(context, text!, { file: file_name, folder: "/" });
  const definition = bindSchedulers(read.definition, clusters.settings);
  const jobs = definition.steps.map((step, at) => ({
    id: at + 1,
    step: { definition: step } as Job["step"],
    raised: null,
  }));
  return { jobs, definition };
}

async function replay({ store }: Context, runId: number): Promise<Run> {
  const row = await requireRun(store, runId);
  const { definition } = await storedDefinition(store, { ...row, name: row.workflow });
  const replayed = new ReplayedRun(runId, () => definition);
  for await (const logged of readLog(store, runId)) replayed.fold(logged);
  return replayed.now;
}
