import { loadRun } from "../../engine/load-run.js";
import { diagnosticsOf } from "../../report/attempt-diagnostics.js";
import { liveControlOf } from "../../report/live-control.js";
import { type RunReference, requireRun, resolveRun } from "../../report/lookup/run-reference.js";
import { usagesOf } from "../../report/model-usage.js";
import { type JobReport, reportRun, reportState } from "../../report/run-report.js";
import { summariseRun } from "../../report/run-summary.js";
import type { Context } from "../context.js";
import { storedDefinition } from "../workflows/stored-workflows.js";

/** Which jobs of a run are told of. */
export const JOB_CHOICES = ["all", "failed", "none"] as const;
export type JobChoice = (typeof JOB_CHOICES)[number];

/** Everything of one run. */
export async function describeRun(
  { store, outputDir }: Context,
  reference: RunReference,
  choice: JobChoice = "all",
) {
  const runId = await resolveRun(store, reference);
  const report = await reportRun(store, runId);
  const jobs = report.jobs.filter((job) => isChosen(job, choice));
  const { run, log } = await loadRun(store, runId);
  const { counts, failures, holds, endings } = await summariseRun(store, outputDir, report);
  return {
    ...report,
    jobs,
    routes: [...report.routes],
    handled_failures: [...report.handled_failures],
    state: reportState(run),
    liveControl: liveControlOf(run),
    left_alone: run.workspace.left,
    diagnostics: diagnosticsOf(jobs, log),
    usage: usagesOf(log),
    summary: { counts: [...counts], failures: [...failures], holds: [...holds], endings: [...endings] },
  };
}

/** What was canceled because of a failure is no failure of its own. */
function isChosen({ status, error }: JobReport, choice: JobChoice): boolean {
  if (choice !== "failed") return choice === "all";
  return error !== null && status !== "completed" && status !== "canceled" && status !== "skipped";
}

export async function runDefinition({ store }: Context, reference: RunReference) {
  const run = await requireRun(store, await resolveRun(store, reference));
  const { definition } = await storedDefinition(store, { ...run, name: run.workflow });
  const { id, workflow, workflow_id, definition_hash, inputs, options } = run;
  return {
    run_id: id,
    workflow,
    workflow_id,
    definition_hash,
    inputs,
    options,
    definition: { ...definition },
  };
}
