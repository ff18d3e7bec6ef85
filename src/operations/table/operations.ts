import { DarumaError } from "../../core/errors/errors.js";
import type { Operation } from "../operation.js";
import { createTokenOperation, listTokens, listWorkers, revokeTokenOperation } from "./administration.js";
import { answerJobOperation } from "./answer-job.js";
import { listDeadLettersOperation, redriveJobOperation } from "./dead-letters.js";
import {
  deleteDraft,
  getDraft,
  listDrafts,
  publishWorkflowOperation,
  saveDraftOperation,
  validateDraftOperation,
} from "./drafts.js";
import { getFailureHandler, listFailureHandlers } from "./failure-handlers.js";
import { getArtifact, getJobLogs, listArtifactsOperation } from "./files.js";
import { forkRunOperation } from "./fork-run.js";
import { classifyAndResolveFailures, listPendingFailedJobs } from "./holds.js";
import { getJob, listJobs, retryJobOperation, updateJob } from "./jobs.js";
import { exportRunOperation, importRunOperation, pruneRunsOperation } from "./retention.js";
import { controlRunOperation, startRunOperation } from "./run-control.js";
import { listEventsOperation, listRunEventsOperation } from "./run-events.js";
import { getRunDefinition, getStats } from "./run-facts.js";
import { explainRunOperation, getRun, listRuns } from "./run-reading.js";
import {
  getWorkflow,
  getWorkflowSchema,
  listWorkflows,
  validateWorkflow,
  workflowGraph,
} from "./workflows.js";
import { applyRunOperation, getWorkspaceOperation } from "./workspace.js";

/** Every use case of Daruma by its name, in the order in which help and documents show them. */
export const TABLE = {
  start_run: startRunOperation,
  control_run: controlRunOperation,
  list_pending_failed_jobs: listPendingFailedJobs,
  classify_and_resolve_failures: classifyAndResolveFailures,
  list_dead_letters: listDeadLettersOperation,
  redrive_job: redriveJobOperation,
  answer_job: answerJobOperation,
  fork_run: forkRunOperation,
  validate_workflow: validateWorkflow,
  get_workflow_schema: getWorkflowSchema,
  workflow_graph: workflowGraph,
  list_runs: listRuns,
  get_run: getRun,
  list_run_events: listRunEventsOperation,
  list_events: listEventsOperation,
  get_job_logs: getJobLogs,
  explain_run: explainRunOperation,
  get_stats: getStats,
  get_run_definition: getRunDefinition,
  list_jobs: listJobs,
  get_job: getJob,
  update_job: updateJob,
  retry_job: retryJobOperation,
  list_artifacts: listArtifactsOperation,
  get_artifact: getArtifact,
  get_workspace: getWorkspaceOperation,
  apply_run: applyRunOperation,
  list_failure_handlers: listFailureHandlers,
  get_failure_handler: getFailureHandler,
  list_workflows: listWorkflows,
  get_workflow: getWorkflow,
  save_draft: saveDraftOperation,
  get_draft: getDraft,
  list_drafts: listDrafts,
  delete_draft: deleteDraft,
  validate_draft: validateDraftOperation,
  publish_workflow: publishWorkflowOperation,
  list_workers: listWorkers,
  create_token: createTokenOperation,
  list_tokens: listTokens,
  revoke_token: revokeTokenOperation,
  prune_runs: pruneRunsOperation,
  export_run: exportRunOperation,
  import_run: importRunOperation,
} as const;

export type OperationName = keyof typeof TABLE;

export const OPERATIONS: readonly Operation[] = Object.values(TABLE) as unknown as readonly Operation[];

export function operationOf(name: string): Operation {
  const operation = OPERATIONS.find((known) => known.name === name);
  if (operation === undefined) throw new DarumaError("USAGE", `there is no operation ${name}`);
  return operation;
}
