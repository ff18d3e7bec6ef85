import type { OperatorCommand } from "../core/commands.js";
import { decide } from "../core/decide.js";
import { refusalOf } from "../core/operator.js";
import { jobRow } from "../core/projections.js";
import type { JobRow, JobStatus, RunStatus } from "../core/rows.js";
import { systemClock } from "../engine/clock.js";
import { loadRun } from "../engine/load-run.js";
import type { LeaseOwner, Store } from "../store/store.js";
import type { Context } from "./context.js";
import { throwIfRefused } from "./operate-run.js";
import { ownerOf } from "./run-owner.js";
import { requireRun } from "./run-reference.js";

export interface JobChange {
  readonly job_id: number;
  readonly step: string;
  readonly scope: string;
  readonly from: JobStatus | null;
  readonly to: JobStatus;
}

/** What an operator's command did, or would do. */
export interface CommandAnswer {
  readonly runId: number;
  readonly before: RunStatus;
  readonly status: RunStatus;
  readonly changed: readonly JobChange[];
  /** Who goes on with the run by itself; null: somebody must resume it. */
  readonly owner: LeaseOwner | null;
}

/** Put a command to a run, whoever runs it, and tell what changed. A refusal is thrown with its code. */
export async function putCommand(
  { store, operate }: Pick<Context, "store" | "operate">,
  runId: number,
  command: OperatorCommand,
): Promise<CommandAnswer> {
  const before = (await requireRun(store, runId)).status;
  const jobsBefore = await store.readJobs(runId);
  await operate(runId, command);
  const { status } = await requireRun(store, runId);
  const changed = changesBetween(jobsBefore, await store.readJobs(runId));
  return { runId, before, status, changed, owner: await ownerOf(store, runId) };
}

/** The same answer for a run in memory only: nothing is written. */
export async function tryCommand(
  store: Store,
  runId: number,
  command: OperatorCommand,
): Promise<CommandAnswer> {
  const { run } = await loadRun(store, runId);
  throwIfRefused(refusalOf(run, command));
  const before = run.status;
  const jobsBefore = run.jobs.map((job) => jobRow(run, job));
  decide(run, command, systemClock.now());
  const changed = changesBetween(
    jobsBefore,
    run.jobs.map((job) => jobRow(run, job)),
  );
  return { runId, before, status: run.status, changed, owner: await ownerOf(store, runId) };
}

function changesBetween(before: readonly JobRow[], after: readonly JobRow[]): JobChange[] {
  const statuses = new Map(before.map(({ id, status }) => [id, status]));
  return after
    .filter(({ id, status }) => statuses.get(id) !== status)
    .map(({ id, step, scope, status }) => ({
      job_id: id,
      step,
      scope,
      from: statuses.get(id) ?? null,
      to: status,
    }));
}
