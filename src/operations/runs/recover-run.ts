import { randomUUID } from "node:crypto";
import { z } from "zod";
import {
  type ClusterLimit,
  type Diagnosis,
  diagnose,
  type Finding,
  type FindingKind,
  type RecoveryPolicy,
  USUAL_SCALE,
} from "../../core/failure/diagnose.js";
import type { OperatorCommand } from "../../core/model/commands.js";
import type { Definition } from "../../core/model/definition.js";
import { amountsOf, type Resource } from "../../core/model/resources.js";
import type { Job, Run } from "../../core/model/run.js";
import { messageOf } from "../../core/text/message-of.js";
import type { ClusterSettings } from "../../file/settings/settings.js";
import { jobLimits, placeOf, targetOf } from "../../fleet/allocations/scale/demand.js";
import { loadRun } from "../../run/engine/load-run.js";
import { ownerOf } from "../../tell/lookup/run-owner.js";
import { resolveRun } from "../../tell/lookup/run-reference.js";
import { runBefore } from "../command-outcome.js";
import type { ClusterControl, Context } from "../context.js";
import { operation } from "../operation.js";
import { typedWords } from "../operator-words.js";
import { type CommandAnswer, putCommand, tryCommandOn } from "../put-command.js";
import {
  duration,
  flag,
  jobChange,
  key,
  memorySize,
  owner,
  raise,
  reason,
  runReference,
  runStatus,
} from "../schemas.js";

const DIAGNOSES = [
  "memory",
  "runtime",
  "lost",
  "prevented",
  "unknown",
] as const satisfies readonly Diagnosis[];
const KINDS = [
  "raised",
  "retried",
  "at_resource_limit",
  "limit_unknown",
  "nothing_to_raise",
  "unknown_failure",
  "nothing_recovered",
  "not_selected",
] as const satisfies readonly (FindingKind | "not_selected")[];
const MAX_JOBS = 100_000;

const factor = z.coerce.number().min(1.01).max(100);

/** A limit in bytes or milliseconds. `cluster` is null for a limit of the request itself. */
const limit = z.object({ amount: z.number(), cluster: z.string().nullable() });

const input = z.strictObject({
  run_id: runReference,
  memory_factor: factor
    .default(USUAL_SCALE.memory.factor)
    .describe("After OOM: memory times this, rounded up to a MiB."),
  max_memory: memorySize.optional().describe("Limit, such as 64g."),
  runtime_factor: factor
    .default(USUAL_SCALE.runtime.factor)
    .describe("After WALLTIME: runtime times this, rounded up to a minute."),
  max_runtime: duration.optional().describe("Limit, such as 8h."),
  retry_unknown: flag.default(false).describe("Also what failed otherwise."),
  job_ids: z.array(z.number().int().positive()).max(MAX_JOBS).optional().describe("Only these jobs."),
  dry_run: flag.default(false).describe("Only report what would happen."),
  reason,
  key,
});
type RecoverRequest = z.output<typeof input>;

export const recoverRun = operation({
  name: "recover_run",
  summary: "run failed and held jobs again: with more memory after OOM, more time after WALLTIME",
  description:
    "Diagnoses every failed or held job and runs again what can be helped: OOM with more memory, WALLTIME with more runtime, lost ones as they are. Others stay. Use `dry_run` first.",
  details:
    "`jobs` says for each job what was found and done, and why: `why` for programs, `explanation` for people. What depends on a recovered job runs too; all in one transaction. An amount is never lowered or kept; at a limit (`limit`: the request's, or lower that of the cluster the job runs on), or without a requirement to raise, the job stays. The job keeps what it is given. Jobs that `fail_fast` ended run again too. With `dry_run` nothing changes.",
  role: "operator",
  effect: "changes",
  input,
  output: z.object({
    run_id: z.number(),
    dry_run: z.boolean(),
    before: runStatus,
    status: runStatus,
    recovered: z.number().describe("How many jobs run again, or would."),
    jobs: z.array(
      z.object({
        job_id: z.number(),
        step: z.string(),
        scope: z.string(),
        code: z.string(),
        diagnosis: z.enum(DIAGNOSES),
        recovers: z.boolean(),
        raise: raise.nullable(),
        limit: limit.nullable(),
        why: z.enum(KINDS),
        explanation: z.string(),
      }),
    ),
    changed: z.array(jobChange),
    reason: z.string(),
    key: z.string(),
    owner,
  }),
  rest: { method: "POST", path: "/runs/{run_id}/recover" },
  cli: [
    {
      words: "recover",
      positional: ["run_id"],
      examples: [
        "daruma recover last --dry-run",
        "daruma recover 3 --memory-factor 2 --max-memory 64g",
        'daruma recover 3 --retry-unknown --recovery-hook "./clean-scratch.sh" --max-rounds 3',
      ],
    },
  ],
  actsOn: ({ run_id }) => [{ run: run_id }],
  handler: recover,
});

/** One command for all of them: they run again together or not at all. */
async function recover(context: Context, request: RecoverRequest) {
  const { store } = context;
  const runId = await resolveRun(store, request.run_id);
  const { dry_run, key = randomUUID() } = request;
  // A key that was taken before is answered as it was then.
  const then = request.key === undefined ? null : await runBefore(store, runId, key);
  const run = then ?? (await loadRun(store, runId)).run;
  const reason = typedWords(run.definition.secrets).redact(request.reason);
  const findings = await findIn(context, run, request);
  const jobs = findings.map(shownFinding);
  const items = findings
    .filter(({ recovers }) => recovers)
    .map(({ job: { id }, raise }) => ({
      job: id,
      ...(raise === null ? {} : { amounts: amountsOf([raise]) }),
    }));
  const command: OperatorCommand = { type: "jobs.recover", items, reason, key };
  const done = await answerOf(context, run, command, dry_run);
  return { ...done, dry_run, recovered: items.length, jobs, reason, key };
}

async function answerOf(
  context: Context,
  run: Run,
  command: Extract<OperatorCommand, { type: "jobs.recover" }>,
  dryRun: boolean,
): Promise<CommandAnswer["run"]> {
  const { id, status } = run;
  if (command.items.length === 0)
    return { run_id: id, before: status, status, changed: [], owner: await ownerOf(context.store, id) };
  const put = dryRun ? tryCommandOn(context.store, run, command) : putCommand(context, id, command);
  return (await put).run;
}

type Selected = Omit<Finding, "why"> & { readonly why: (typeof KINDS)[number] };

async function findIn(context: Context, run: Run, request: RecoverRequest): Promise<Selected[]> {
  const { memory_factor, max_memory = null, runtime_factor, max_runtime = null, job_ids } = request;
  const policy: RecoveryPolicy = {
    scale: {
      memory: { factor: memory_factor, max: max_memory },
      runtime: { factor: runtime_factor, max: max_runtime },
    },
    retryUnknown: request.retry_unknown,
  };
  const alone = diagnose(run, policy);
  const raised = alone.flatMap(({ job, raise }) => (raise === null ? [] : [job]));
  // Clusters are asked only where something would be raised on them.
  const limitOf = await limitsOnClusters(context, raised, run.definition);
  const findings = limitOf === null ? alone : diagnose(run, { ...policy, limitOf });
  if (job_ids === undefined) return findings;
  const wanted = new Set(job_ids);
  return findings.map((finding) =>
    finding.recovers && !wanted.has(finding.job.id)
      ? {
          ...finding,
          recovers: false,
          raise: null,
          limit: null,
          why: "not_selected",
          reason: "it is not among job_ids",
        }
      : finding,
  );
}

function shownFinding({ job, code, diagnosis, recovers, raise, limit, why, reason }: Selected) {
  return {
    job_id: job.id,
    step: job.step.definition.id,
    scope: job.scope.id,
    code,
    diagnosis,
    recovers,
    raise,
    limit,
    why,
    explanation: reason,
  };
}

type LimitOf = NonNullable<RecoveryPolicy["limitOf"]>;

/** What these jobs may be given where they run; each cluster is asked once. Null: none of them runs on a cluster. */
async function limitsOnClusters(
  { clusters }: Context,
  jobs: readonly Job[],
  workflow: Pick<Definition, "schedulers">,
): Promise<LimitOf | null> {
  if (clusters == null) return null;
  const limits = new Map<string, (resource: Resource) => ClusterLimit>();
  for (const job of jobs) {
    const place = placeOf(job, clusters.settings, workflow);
    if (place !== null && !limits.has(keyOf(place)))
      limits.set(keyOf(place), await limitsOf(clusters, place));
  }
  if (limits.size === 0) return null;
  return (job, resource) => {
    const place = placeOf(job, clusters.settings, workflow);
    return place === null ? null : (limits.get(keyOf(place))?.(resource) ?? null);
  };
}

/** A key that is equal for jobs with the same limits. */
function keyOf({ name, tags }: ClusterSettings): string {
  return [name, ...tags].join(" ");
}

/** A job that was given more than there is would wait for ever, so a cluster that cannot be asked counts as trouble. */
async function limitsOf(
  clusters: ClusterControl,
  settings: ClusterSettings,
): Promise<(resource: Resource) => ClusterLimit> {
  const { name: cluster } = settings;
  try {
    const limits = jobLimits(settings, targetOf(settings, await clusters.targets(cluster)));
    return (resource) => ({ cluster, amount: limits[resource] });
  } catch (error) {
    return () => ({ cluster, trouble: messageOf(error) });
  }
}
