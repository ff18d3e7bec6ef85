import { randomUUID } from "node:crypto";
import type { Event } from "../../core/model/events.js";
import type { JobRow } from "../../core/model/rows.js";
import { findJob, type JobRequest } from "../../report/lookup/choose-job.js";
import { requireRun } from "../../report/lookup/run-reference.js";
import { type MarkedJob, markedJobs } from "../../report/marked-jobs.js";
import type { Store } from "../../store/store.js";
import type { Context } from "../context.js";
import { redacted } from "../operator-words.js";
import { type CommandAnswer, putCommand } from "../put-command.js";

/** A job that the queue has given up: all its rounds are used, and nobody has redriven it. */
export type DeadLetter = MarkedJob<{
  /** Rounds of the queue that it has had. */
  readonly queue_attempts: number;
}>;

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
  for (const [runId, ofRun] of groupByRun(rows))
    items.push(...(await markedJobs(store, await requireRun(store, runId), ofRun, markOf)));
  return { items, next: rows.length < limit ? null : rows.at(-1)!.id };
}

/** Rows by id are rows by run. */
function groupByRun(rows: readonly JobRow[]): Map<number, JobRow[]> {
  const groups = new Map<number, JobRow[]>();
  for (const row of rows) groups.set(row.run_id, [...(groups.get(row.run_id) ?? []), row]);
  return groups;
}

function markOf(event: Event): { readonly queue_attempts: number } | undefined {
  return event.type === "job.dead_lettered" ? { queue_attempts: event.queueAttempts } : undefined;
}

/** Back into the queue, with a fresh count of rounds, from the checkpoints. A job that is no dead letter is refused. */
export async function redriveJob(
  context: Context,
  request: JobRequest & { readonly reason: string; readonly key?: string | undefined },
) {
  const job = await findJob(context.store, request);
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
