import { randomUUID } from "node:crypto";
import type { LoggedEvent } from "../core/events.js";
import type { Failure } from "../core/failure.js";
import type { JobRow } from "../core/rows.js";
import type { Store } from "../store/store.js";
import type { Context } from "./context.js";
import { requireJob } from "./job-report.js";
import { redacted } from "./operator-words.js";
import { type CommandAnswer, putCommand } from "./put-command.js";
import { readLog } from "./replayed-log.js";
import { requireRun } from "./run-reference.js";
import { iso } from "./run-report.js";
import { troubledJob } from "./troubled-job.js";

/** A job that the queue has given up: all its rounds are used, and nobody has redriven it. */
export interface DeadLetter {
  readonly run_id: number;
  readonly workflow: string;
  readonly job_id: number;
  readonly step: string;
  readonly scope: string;
  readonly status: JobRow["status"];
  readonly error: { readonly code: string; readonly message: string; readonly exit_code: number | null };
  readonly class: string | null;
  /** Rounds of the queue that it has had. */
  readonly queue_attempts: number;
  /** Attempts in all. */
  readonly attempts: number;
  readonly since: string;
}

type Given = Extract<LoggedEvent["event"], { type: "job.dead_lettered" }> & { readonly at: number };

/** By job id; `next` is the `after` of the next page. */
export async function listDeadLetters(
  store: Store,
  { runId, limit, after }: { readonly runId?: number; readonly limit: number; readonly after?: number },
): Promise<{ items: DeadLetter[]; next: number | null }> {
  const rows = await store.listJobs({
    deadLetter: true,
    limit,
    ...(runId === undefined ? {} : { runId }),
    ...(after === undefined ? {} : { afterId: after }),
  });
  const items: DeadLetter[] = [];
  for (const ofRun of groupByRun(rows)) items.push(...(await describe(store, ofRun)));
  return { items, next: rows.length < limit ? null : rows.at(-1)!.id };
}

/** Rows by id are rows by run. */
function groupByRun(rows: readonly JobRow[]): JobRow[][] {
  const groups = new Map<number, JobRow[]>();
  for (const row of rows) groups.set(row.run_id, [...(groups.get(row.run_id) ?? []), row]);
  return [...groups.values()];
}

async function describe(store: Store, jobs: readonly JobRow[]): Promise<DeadLetter[]> {
  const { run_id } = jobs[0]!;
  const workflow = (await requireRun(store, run_id)).workflow;
  const given = new Map<number, Given>();
  for await (const { at, event } of readLog(store, run_id))
    if (event.type === "job.dead_lettered") given.set(event.job, { ...event, at });
  const attempts = await store.readAttempts(run_id);
  return jobs.map((job) => {
    // The row of a job that has failed says why; the attempt's knows of which class that is.
    const last = attempts.find(({ job_id, attempt }) => job_id === job.id && attempt === job.attempt_id);
    return deadLetterOf(workflow, job, last?.error ?? null, given.get(job.id)!);
  });
}

function deadLetterOf(
  workflow: string,
  job: JobRow,
  full: Failure | null,
  { queueAttempts, at }: Given,
): DeadLetter {
  return {
    ...troubledJob(workflow, job, full),
    status: job.status,
    queue_attempts: queueAttempts,
    since: iso(at),
  };
}

/** Back into the queue, with all its rounds anew, from the checkpoints. A job that is no dead letter is refused. */
export async function redriveJob(
  context: Context,
  request: { readonly job_id: number; readonly reason: string; readonly key?: string | undefined },
) {
  const job = await requireJob(context.store, request.job_id);
  const reason = await redacted(context.store, job.run_id, request.reason);
  const key = request.key ?? randomUUID();
  const answer: CommandAnswer = await putCommand(context, job.run_id, {
    type: "step.redrive",
    job: job.id,
    reason,
    key,
  });
  const { before, status, changed, owner } = answer;
  return {
    run_id: job.run_id,
    job_id: job.id,
    step: job.step,
    scope: job.scope,
    before,
    status,
    changed: [...changed],
    reason,
    key,
    owner: owner === null ? null : { host: owner.host, pid: owner.pid },
  };
}
