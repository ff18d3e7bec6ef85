import { randomUUID } from "node:crypto";
import { z } from "zod";
import { refusalOf } from "../../core/decide/operator.js";
import { DarumaError, type ErrorCode } from "../../core/errors/errors.js";
import type { HoldDecision, OperatorCommand } from "../../core/model/commands.js";
import type { JobRow } from "../../core/model/rows.js";
import type { Run } from "../../core/model/run.js";
import type { Json } from "../../core/text/json.js";
import { loadRun } from "../../run/engine/load-run.js";
import { resultOfOutput, tooDeep } from "../../run/worker/attempt-output.js";
import { outputArtifact } from "../../run/worker/attempt-paths.js";
import type { Store } from "../../store/store.js";
import { findJob } from "../../tell/lookup/choose-job.js";
import { requireRun } from "../../tell/lookup/run-reference.js";
import { throwIfRefused } from "../command-outcome.js";
import type { Context } from "../context.js";
import { type Answer, operation } from "../operation.js";
import { definitionOf, hintSaid, redactorFor, refuseHint, type TypedWords } from "../operator-words.js";
import { changedRun, giveCommand } from "../put-command.js";
import { duration, flag, hint, jobId, json, key, memorySize, reason, runOfJob } from "../schemas.js";

const MAX_CLASSIFICATIONS = 10_000;

const input = z.strictObject({
  classifications: z
    .array(
      z.strictObject({
        job_id: jobId,
        action: z.enum(["retry", "fail", "skip", "complete"]),
        reason,
        output: json.optional().describe("The job's output, for complete."),
        memory: memorySize.optional().describe("For retry: more memory, such as 8g."),
        runtime: duration.optional().describe("For retry: more runtime, such as 4h."),
        hint: hint.describe("For retry: text for the step's next attempts."),
      }),
    )
    .min(1)
    .max(MAX_CLASSIFICATIONS)
    .describe("One decision for each job."),
  run_id: runOfJob,
  dry_run: flag.default(false).describe("Only report what would happen."),
  key,
});
type ResolveRequest = z.output<typeof input>;
type Classification = ResolveRequest["classifications"][number];

/** `job_id` is as it was named where there is no such job; the reason is without the secrets of the run. */
const result = z.object({
  job_id: z.union([z.number(), z.string()]),
  run_id: z.number().nullable(),
  step: z.string().nullable(),
  scope: z.string().nullable(),
  action: z.string(),
  reason: z.string(),
  ok: z.boolean(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});
type ItemResult = Answer<typeof result>;

/** Not applied: it was a dry run, or some decision was refused and nothing at all is changed. */
const resolved = z.object({
  applied: z.boolean(),
  dry_run: z.boolean(),
  key: z.string(),
  results: z.array(result),
  runs: z.array(changedRun),
});
export type ResolveAnswer = Answer<typeof resolved>;

export const resolveHeldJobs = operation({
  name: "resolve_holds",
  publishedTool: "classify_and_resolve_failures",
  summary: "decide held steps: retry, fail, skip or complete; all of them or none",
  description:
    "Decides holds, all or none; `job_id` is the `id` of a hold. `retry` runs the job again with fresh budgets; `fail` fails it and cancels what depends on it; `skip` continues without it; `complete` continues as if it had returned `output`. Use `dry_run` first.",
  details:
    "Every decision is checked before any is applied. `retry` may give the job more `memory` or `runtime`, which it keeps; an amount that is not more than it has is refused with NOT_RAISED. If one is refused, nothing changes and the error is DECISIONS_REFUSED, whose `results` say which and why. The decisions of one run are applied in one transaction; several runs are handled one after the other. With `dry_run` nothing changes and the answer says what would happen, including refusals.",
  role: "operator",
  effect: "changes",
  input,
  output: resolved,
  rest: { method: "POST", path: "/holds/resolve" },
  cli: [
    {
      words: "resolve",
      positional: [],
      examples: [
        'daruma resolve 3 build --retry --reason "the disk is free again"',
        'daruma resolve 3 30000002 visit@cities[1] --skip --reason "not needed today"',
        `daruma resolve 3 fetch --complete '{"rows": 0}' --reason "no data on Sundays" --dry-run`,
        'daruma resolve last --all --fail --reason "wrong branch"',
        'daruma resolve --signature 3f9a01bc --skip --reason "not needed today"',
      ],
    },
  ],
  actsOn: ({ classifications, run_id }) => classifications.map(({ job_id }) => ({ job: { job_id, run_id } })),
  handler: resolveHolds,
});

/** All decisions of one run in one command: they apply together or not at all. */
interface RunPlan {
  readonly runId: number;
  readonly run: Run;
  readonly redactor: TypedWords;
  readonly items: HoldDecision[];
}

/** Decide holds, all of them or none; the refusal names each that cannot be. A dry run only tells. */
async function resolveHolds(context: Context, request: ResolveRequest): Promise<ResolveAnswer> {
  const answer = await decideHolds(context, request);
  if (!answer.dry_run && !answer.applied) throw decisionsRefused(answer);
  return answer;
}

/** Decides holds, and returns refusals in the answer. Every decision is checked before any is executed. */
export async function decideHolds(context: Context, request: ResolveRequest): Promise<ResolveAnswer> {
  const { dry_run, key = randomUUID() } = request;
  const plans = new Map<number, RunPlan>();
  const seen = new Set<number>();
  const results: ItemResult[] = [];
  for (const item of request.classifications)
    results.push(await checkItem(context, { ...item, run_id: request.run_id }, plans, seen, key));
  if (results.some(({ ok }) => !ok)) return { applied: false, dry_run, key, results, runs: [] };
  const runs: ResolveAnswer["runs"][number][] = [];
  // Somebody may have been faster, in one run and not in another.
  const overtaken = new Map<number, DarumaError>();
  for (const plan of plans.values()) {
    const reason = plan.items[0]!.reason ?? "";
    const command: OperatorCommand = { type: "holds.resolve", items: plan.items, reason, key };
    await giveCommand(context, plan.runId, command, dry_run).then(
      ({ run }) => runs.push(run),
      (error: unknown) => overtaken.set(plan.runId, refusalIn(error)),
    );
  }
  const told = results.map((result) => {
    const error = overtaken.get(result.run_id!);
    return error === undefined ? result : { ...result, ok: false, error: errorOf(error) };
  });
  return { applied: !dry_run && overtaken.size === 0, dry_run, key, results: told, runs };
}

/** What is no refusal is nothing that the caller could do otherwise. */
function refusalIn(error: unknown): DarumaError {
  if (error instanceof DarumaError && REFUSALS.has(error.code)) return error;
  throw error;
}

const REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "NOT_HELD",
  "NOT_RAISED",
  "NOT_AN_ARRAY",
  "TOO_MANY_ITEMS",
  "KEY_REUSED",
]);

/** How many refusals the message contains. `results` has all. */
const MAX_REFUSALS_TOLD = 5;

function decisionsRefused({ results, runs }: ResolveAnswer): DarumaError {
  const refused = results.filter(({ ok }) => !ok);
  const which = `${refused.length} of ${results.length} decisions ${refused.length === 1 ? "is" : "are"} refused`;
  const taken =
    runs.length === 0 ? "" : `; those of run ${runs.map(({ run_id }) => run_id).join(", ")} were taken`;
  const whys = refused
    .slice(0, MAX_REFUSALS_TOLD)
    .map(({ job_id, error }) => `job ${job_id}: ${error!.message} (${error!.code})`);
  if (refused.length > whys.length) whys.push(`and ${refused.length - whys.length} more`);
  return new DarumaError("DECISIONS_REFUSED", `${which}${taken}: ${whys.join("; ")}`, {
    details: { results },
  });
}

async function checkItem(
  context: Context,
  item: Classification & Pick<ResolveRequest, "run_id">,
  plans: Map<number, RunPlan>,
  seen: Set<number>,
  key: string,
): Promise<ItemResult> {
  let job: JobRow | null = null;
  try {
    job = await findJob(context.store, item);
    if (seen.has(job.id)) throw new DarumaError("INVALID_INPUT", `job ${job.id} is named twice`);
    seen.add(job.id);
    const plan = plans.get(job.run_id) ?? (await openPlan(context.store, job.run_id));
    plans.set(job.run_id, plan);
    // A key that was taken before decides nothing again; the job has gone on since.
    const decision = plan.run.operatorKeys.has(key)
      ? { job: job.id, action: item.action, output: null, items: null }
      : await decisionFor(context, plan, job, item);
    throwIfRefused(refusalOf(plan.run, { type: "holds.resolve", items: [decision], reason: "", key }));
    plan.items.push(decision);
    return resultFor({ ...item, reason: plan.redactor.redact(item.reason) }, job, null);
  } catch (error) {
    if (error instanceof DarumaError) return resultFor(item, job, error);
    throw error;
  }
}

async function openPlan(store: Store, runId: number): Promise<RunPlan> {
  const { run } = await loadRun(store, runId);
  return { runId, run, redactor: await redactorFor(store, runId), items: [] };
}

async function decisionFor(
  { store, outputDir }: Context,
  { redactor }: RunPlan,
  job: JobRow,
  { action, reason, output, memory, runtime, hint: words }: Classification,
): Promise<HoldDecision> {
  const amounts = {
    ...(memory === undefined ? {} : { memoryBytes: memory }),
    ...(runtime === undefined ? {} : { runtimeMs: runtime }),
  };
  const hasMore = Object.keys(amounts).length > 0;
  if (hasMore && action !== "retry")
    throw new DarumaError(
      "INVALID_INPUT",
      `${job.step}: memory and runtime are for retry, not for ${action}`,
    );
  refuseHint(words, `${job.step}: ${action}`, action === "retry");
  const said = {
    ...{ job: job.id, action, reason: redactor.redact(reason) },
    ...(hasMore ? { amounts } : {}),
    ...hintSaid(words, redactor),
  };
  if (action !== "complete" || job.status !== "held") return { ...said, output: null, items: null };
  const refused = tooDeep(output as Json);
  if (refused !== null) throw new DarumaError("OUTPUT_INVALID", `${job.step}: ${refused.message}`);
  return {
    ...said,
    ...(await completedWith(store, outputDir, job, redactor.redactJson((output ?? null) as Json))),
  };
}

/**
 * Completes a job as if an attempt had returned the output: it must match the step's schema, and a large value becomes
 * an artifact.
 */
async function completedWith(
  store: Store,
  outputDir: string,
  job: JobRow,
  output: Json,
): Promise<Pick<HoldDecision, "output" | "items">> {
  const [run, definition] = [await requireRun(store, job.run_id), await definitionOf(store, job.run_id)];
  const step = definition?.steps.find(({ id }) => id === job.step);
  const name = {
    workflowId: run.workflow_id,
    jobId: job.id,
    runId: job.run_id,
    attempt: job.attempt_id,
  };
  const result = resultOfOutput(output ?? null, {
    schema: step?.outputSchema ?? null,
    maxItems: step?.forEach === true ? definition!.maxItems : null,
    artifact: outputArtifact(outputDir, name),
  });
  if (result.kind === "failed")
    throw new DarumaError(result.facts.code, `${job.step}: ${result.facts.message}`);
  return { output: result.output, items: result.items ?? null };
}

function resultFor(
  { job_id, action, reason }: Classification,
  job: JobRow | null,
  error: DarumaError | null,
): ItemResult {
  return {
    job_id: job?.id ?? job_id,
    run_id: job?.run_id ?? null,
    step: job?.step ?? null,
    scope: job?.scope ?? null,
    action,
    reason,
    ok: error === null,
    error: error === null ? null : errorOf(error),
  };
}

function errorOf({ code, message }: DarumaError): NonNullable<ItemResult["error"]> {
  return { code, message };
}
