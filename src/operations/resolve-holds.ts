import type { HoldDecision, OperatorCommand } from "../core/commands.js";
import { DarumaError } from "../core/errors.js";
import type { HoldAction } from "../core/events.js";
import type { Json } from "../core/json.js";
import type { JobRow } from "../core/rows.js";
import type { Store } from "../store/store.js";
import { resultOfOutput } from "../worker/attempt-output.js";
import { outputArtifact } from "../worker/attempt-paths.js";
import { chooseJob } from "./choose-job.js";
import { definitionOf, redactorFor } from "./operator-words.js";

export interface ResolveRequest {
  readonly runId: number;
  /** Job ids, step ids or `step@scope`; empty: every hold of the run. */
  readonly jobs: readonly string[];
  readonly scope?: string;
  readonly action: HoldAction;
  /** For `complete`. */
  readonly output: Json;
  readonly reason: string;
  readonly key: string;
}

/** One command for all of the holds: it applies to all of them or to none. */
export async function resolveCommand(
  store: Store,
  outputDir: string,
  request: ResolveRequest,
): Promise<OperatorCommand> {
  const { runId, action, scope, key } = request;
  const rows = await store.readJobs(runId);
  const chosen =
    request.jobs.length === 0
      ? heldJobs(rows, runId)
      : request.jobs.map((name) =>
          chooseJob(rows, { runId, name, ...(scope === undefined ? {} : { scope }) }),
        );
  const redactor = await redactorFor(store, runId);
  const output = redactor.redactJson(request.output);
  const given = async (job: JobRow): Promise<Pick<HoldDecision, "output" | "items">> =>
    action === "complete" ? completedWith(store, outputDir, job, output) : { output: null, items: null };
  const items = await Promise.all(
    chosen.map(async (job) => ({ job: job.id, action, ...(await given(job)) })),
  );
  return { type: "holds.resolve", items, reason: request.reason, key };
}

function heldJobs(rows: readonly JobRow[], runId: number): JobRow[] {
  const held = rows.filter(({ status }) => status === "pending_failed");
  if (held.length === 0) throw new DarumaError("NOT_HELD", `run ${runId} has no hold`);
  return held;
}

/** As if an attempt had given it: the step's schema holds, a large value becomes an artifact. */
async function completedWith(
  store: Store,
  outputDir: string,
  job: JobRow,
  output: Json,
): Promise<Pick<HoldDecision, "output" | "items">> {
  const [run, definition] = [await store.readRun(job.run_id), await definitionOf(store, job.run_id)];
  const schema = definition?.steps.find(({ id }) => id === job.step)?.outputSchema ?? null;
  const name = {
    workflowId: run!.workflow_id,
    jobId: job.id,
    runId: job.run_id,
    attempt: job.attempt_id,
  };
  const result = resultOfOutput(output, schema, outputArtifact(outputDir, name));
  if (result.kind !== "succeeded")
    throw new DarumaError(
      "OUTPUT_INVALID",
      `${job.step}: ${result.kind === "failed" ? result.facts.message : "no output"}`,
    );
  return { output: result.output, items: result.items };
}
