import { asksForUnfinishedRunsOnly } from "../job-rules.js";
import type { Store } from "../store.js";
import {
  COLUMNS,
  JOB_NAME_COLUMNS,
  LAST_LEASE_COLUMNS,
  LOGGED_EVENT_COLUMNS,
  unpackAttempt,
  unpackCheckpoint,
  unpackEvent,
  unpackFailureHandler,
  unpackJob,
  unpackJobName,
  unpackLastLease,
  unpackLease,
  unpackRoute,
  unpackRows,
  unpackRun,
  unpackWorkflow,
} from "./packed-rows.js";
import type { ThreadClient } from "./thread-client.js";

type RowReader =
  | "readFailureHandler"
  | "listFailureHandlers"
  | "listWorkflows"
  | "readWorkflow"
  | "readRun"
  | "listRuns"
  | "readEvents"
  | "readJobs"
  | "readJob"
  | "readJobNames"
  | "listJobs"
  | "readAttempts"
  | "readRoutes"
  | "readCheckpoints"
  | "readLease"
  | "readLastLeases";

/** The verbs whose answers are rows that arrive packed. */
export function createRowReaders(thread: ThreadClient): Pick<Store, RowReader> {
  return {
    ...createWorkflowReaders(thread),
    async readRun(runId) {
      const row = await thread.call("readRun", runId);
      return row === null ? null : unpackRun(row);
    },
    async listRuns(filter) {
      return unpackRows(await thread.call("listRuns", filter), COLUMNS.run, unpackRun);
    },
    async readEvents(runId, range = {}) {
      const cells = await thread.call("readEvents", runId, range.afterSeq ?? 0, range.limit ?? null);
      return unpackRows(cells, LOGGED_EVENT_COLUMNS, (row) => unpackEvent(runId, row));
    },
    async readJobs(runId) {
      return unpackRows(await thread.call("readJobs", runId), COLUMNS.job, unpackJob);
    },
    async readJob(id) {
      const row = await thread.call("readJob", id);
      return row === null ? null : unpackJob(row);
    },
    async readJobNames(runId, afterId = 0) {
      return unpackRows(await thread.call("readJobNames", runId, afterId), JOB_NAME_COLUMNS, unpackJobName);
    },
    async listJobs(filter) {
      const cells = await thread.call("listJobs", filter, asksForUnfinishedRunsOnly(filter));
      return unpackRows(cells, COLUMNS.job, unpackJob);
    },
    async readAttempts(runId) {
      return unpackRows(await thread.call("readAttempts", runId), COLUMNS.attempt, unpackAttempt);
    },
    async readRoutes(runId) {
      return unpackRows(await thread.call("readRoutes", runId), COLUMNS.route, unpackRoute);
    },
    async readCheckpoints(runId) {
      return unpackRows(await thread.call("readCheckpoints", runId), COLUMNS.checkpoint, unpackCheckpoint);
    },
    async readLease(runId) {
      const row = await thread.call("readLease", runId);
      return row === null ? null : unpackLease(row);
    },
    async readLastLeases(runIds) {
      const cells = await thread.call("readLastLeases", runIds);
      return unpackRows(cells, LAST_LEASE_COLUMNS, unpackLastLease);
    },
  };
}

type WorkflowReader = "readFailureHandler" | "listFailureHandlers" | "listWorkflows" | "readWorkflow";

function createWorkflowReaders(thread: ThreadClient): Pick<Store, WorkflowReader> {
  return {
    async readFailureHandler(id) {
      const row = await thread.call("readFailureHandler", id);
      return row === null ? null : unpackFailureHandler(row);
    },
    async listFailureHandlers(workflowId) {
      const cells = await thread.call("listFailureHandlers", workflowId ?? null);
      return unpackRows(cells, COLUMNS.failure_handler, unpackFailureHandler);
    },
    async listWorkflows(filter) {
      return unpackRows(await thread.call("listWorkflows", filter), COLUMNS.workflow, unpackWorkflow);
    },
    async readWorkflow(id) {
      const row = await thread.call("readWorkflow", id);
      return row === null ? null : unpackWorkflow(row);
    },
  };
}
