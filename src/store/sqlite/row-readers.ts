import { asksForUnfinishedRunsOnly } from "../job-rules.js";
import type { Store } from "../store.js";
import { TABLES } from "../tables.js";
import {
  JOB_NAME_COLUMNS,
  LAST_LEASE_COLUMNS,
  LOGGED_EVENT_COLUMNS,
  unpackEvent,
  unpackJobName,
  unpackLastLease,
  unpackLease,
  unpackRow,
  unpackRows,
  unpackTable,
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
      return unpackRow(TABLES.run, await thread.call("readRun", runId));
    },
    async listRuns(filter) {
      return unpackTable(TABLES.run, await thread.call("listRuns", filter));
    },
    async readEvents(runId, range = {}) {
      const cells = await thread.call(
        "readEvents",
        runId,
        range.afterSeq ?? 0,
        range.limit ?? null,
        range.job ?? null,
      );
      return unpackRows(cells, LOGGED_EVENT_COLUMNS, (row) => unpackEvent(runId, row));
    },
    async readJobs(runId) {
      return unpackTable(TABLES.job, await thread.call("readJobs", runId));
    },
    async readJob(id) {
      return unpackRow(TABLES.job, await thread.call("readJob", id));
    },
    async readJobNames(runId, { afterId = 0, limit = null } = {}) {
      const cells = await thread.call("readJobNames", runId, afterId, limit);
      return unpackRows(cells, JOB_NAME_COLUMNS, unpackJobName);
    },
    async listJobs(filter) {
      const cells = await thread.call("listJobs", filter, asksForUnfinishedRunsOnly(filter));
      return unpackTable(TABLES.job, cells);
    },
    async readAttempts(runId, jobId) {
      return unpackTable(TABLES.attempt, await thread.call("readAttempts", runId, jobId ?? null));
    },
    async readRoutes(runId) {
      return unpackTable(TABLES.route, await thread.call("readRoutes", runId));
    },
    async readCheckpoints(runId) {
      return unpackTable(TABLES.checkpoint, await thread.call("readCheckpoints", runId));
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
      return unpackRow(TABLES.failure_handler, await thread.call("readFailureHandler", id));
    },
    async listFailureHandlers(workflowId) {
      const cells = await thread.call("listFailureHandlers", workflowId ?? null);
      return unpackTable(TABLES.failure_handler, cells);
    },
    async listWorkflows(filter) {
      return unpackTable(TABLES.workflow, await thread.call("listWorkflows", filter));
    },
    async readWorkflow(id) {
      return unpackRow(TABLES.workflow, await thread.call("readWorkflow", id));
    },
  };
}
