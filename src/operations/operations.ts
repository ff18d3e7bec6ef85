import { DarumaError } from "../core/errors/errors.js";
import { controlCampaign, listCampaigns, startCampaign } from "./campaigns/campaigns.js";
import { controlAllocations, listAllocations } from "./clusters/allocations.js";
import { planCluster } from "./clusters/plan-cluster.js";
import { listControls } from "./controls/list-controls.js";
import { checkHealth } from "./doctor/check-health.js";
import { exportRun } from "./exchange/export-run.js";
import { importRun } from "./exchange/import-run.js";
import { listFailures, listFlakes } from "./failures/list-failures.js";
import { getFailure, triageFailure } from "./failures/triage-failure.js";
import { answerJob, updateJob } from "./jobs/change-job.js";
import { compareAttempts } from "./jobs/compare-attempts.js";
import { getJob } from "./jobs/get-job.js";
import { getJobLogs } from "./jobs/get-job-logs.js";
import { listDeadLetters, listHeldJobs, listJobs } from "./jobs/list-jobs.js";
import { resolveHeldJobs } from "./jobs/resolve-holds.js";
import { redriveJob, retryJob } from "./jobs/retry-job.js";
import { listNotifications, testChannel } from "./notifications/notifications.js";
import type { Operation } from "./operation.js";
import { decideProblems } from "./problems/decide-problems.js";
import { listProblems } from "./problems/list-problems.js";
import { pruneRuns } from "./retention/prune-runs.js";
import { diffRun } from "./reuse/diff-run.js";
import { getArtifact, listArtifacts } from "./runs/artifacts.js";
import { compareRuns } from "./runs/compare-runs.js";
import { controlRun } from "./runs/control-run.js";
import { explainRun } from "./runs/explain-run.js";
import { forkRun } from "./runs/fork-run.js";
import { getResources } from "./runs/get-resources.js";
import { getRun } from "./runs/get-run.js";
import { getRunDefinition } from "./runs/get-run-definition.js";
import { getStats } from "./runs/get-stats.js";
import { listEvents } from "./runs/list-events.js";
import { listRunEvents } from "./runs/list-run-events.js";
import { listRuns } from "./runs/list-runs.js";
import { recoverRun } from "./runs/recover-run.js";
import { reportRun } from "./runs/report/report-run.js";
import { applyRun, getWorkspace } from "./runs/run-workspace.js";
import { startRun } from "./runs/start-run.js";
import { controlSchedule, listSchedules, runSchedule } from "./schedules/schedules.js";
import { controlBreaker, listBreakers } from "./server/breakers.js";
import { getSettings } from "./server/get-settings.js";
import { createToken, listTokens, revokeToken, whoami } from "./server/tokens.js";
import { listWaiting, listWorkers, releaseWorker } from "./server/workers.js";
import { getTimeline } from "./timeline/get-timeline.js";
import { compareVersions } from "./workflows/compare-versions.js";
import {
  deleteDraft,
  getDraft,
  listDrafts,
  publishWorkflow,
  saveDraft,
  validateDraft,
} from "./workflows/drafts.js";
import { editWorkflow } from "./workflows/edit-workflow.js";
import { validateWorkflow } from "./workflows/validate-workflow.js";
import { workflowGraph } from "./workflows/workflow-graph.js";
import {
  getFailureHandler,
  getWorkflow,
  getWorkflowSchema,
  listFailureHandlers,
  listWorkflows,
} from "./workflows/workflows.js";

/** Every use case of Daruma by its name, in the order in which help and documents show them. */
export const TABLE = {
  start_run: startRun,
  control_run: controlRun,
  list_controls: listControls,
  recover_run: recoverRun,
  list_problems: listProblems,
  decide_problems: decideProblems,
  list_holds: listHeldJobs,
  resolve_holds: resolveHeldJobs,
  list_failures: listFailures,
  get_failure: getFailure,
  triage_failure: triageFailure,
  list_flakes: listFlakes,
  start_campaign: startCampaign,
  list_campaigns: listCampaigns,
  control_campaign: controlCampaign,
  list_dead_letters: listDeadLetters,
  redrive_job: redriveJob,
  answer_job: answerJob,
  fork_run: forkRun,
  diff_run: diffRun,
  validate_workflow: validateWorkflow,
  get_workflow_schema: getWorkflowSchema,
  workflow_graph: workflowGraph,
  edit_workflow: editWorkflow,
  list_runs: listRuns,
  get_run: getRun,
  get_timeline: getTimeline,
  list_run_events: listRunEvents,
  list_events: listEvents,
  get_job_logs: getJobLogs,
  explain_run: explainRun,
  compare_runs: compareRuns,
  get_stats: getStats,
  get_resources: getResources,
  report_run: reportRun,
  get_run_definition: getRunDefinition,
  list_jobs: listJobs,
  get_job: getJob,
  compare_attempts: compareAttempts,
  update_job: updateJob,
  retry_job: retryJob,
  list_artifacts: listArtifacts,
  get_artifact: getArtifact,
  get_workspace: getWorkspace,
  apply_run: applyRun,
  list_failure_handlers: listFailureHandlers,
  get_failure_handler: getFailureHandler,
  list_workflows: listWorkflows,
  get_workflow: getWorkflow,
  save_draft: saveDraft,
  get_draft: getDraft,
  list_drafts: listDrafts,
  delete_draft: deleteDraft,
  validate_draft: validateDraft,
  publish_workflow: publishWorkflow,
  compare_versions: compareVersions,
  list_schedules: listSchedules,
  control_schedule: controlSchedule,
  run_schedule: runSchedule,
  list_breakers: listBreakers,
  control_breaker: controlBreaker,
  list_notifications: listNotifications,
  test_channel: testChannel,
  get_settings: getSettings,
  list_workers: listWorkers,
  list_waiting: listWaiting,
  release_worker: releaseWorker,
  plan_cluster: planCluster,
  list_allocations: listAllocations,
  control_allocations: controlAllocations,
  whoami,
  create_token: createToken,
  list_tokens: listTokens,
  revoke_token: revokeToken,
  prune_runs: pruneRuns,
  check_health: checkHealth,
  export_run: exportRun,
  import_run: importRun,
} as const;

export type OperationName = keyof typeof TABLE;

export const OPERATIONS: readonly Operation[] = Object.values(TABLE) as unknown as readonly Operation[];

export function operationOf(name: string): Operation {
  const operation = OPERATIONS.find((known) => known.name === name);
  if (operation === undefined) throw new DarumaError("USAGE", `there is no operation ${name}`);
  return operation;
}
