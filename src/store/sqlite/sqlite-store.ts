import { resolve } from "node:path";
import { refuseMalformedAppend } from "../append-rules.js";
import { toStorableText } from "../storable-text.js";
import type { Store } from "../store.js";
import { threadEntry } from "../thread-entry.js";
import { refuseMalformedWorkflow } from "../workflow-rules.js";
import {
  COLUMNS,
  LOGGED_EVENT_COLUMNS,
  packAppend,
  unpackAttempt,
  unpackEvent,
  unpackFailureHandler,
  unpackJob,
  unpackLease,
  unpackRoute,
  unpackRows,
  unpackRun,
} from "./packed-rows.js";
import { ThreadClient } from "./thread-client.js";

/** Open a database file as a store; the file and its folder are made where they are missing. */
export async function openSqliteStore(options: { readonly file: string }): Promise<Store> {
  const file = resolve(options.file);
  const thread = new ThreadClient(threadEntry(import.meta.url, "./sqlite-thread.js"), file);
  try {
    await thread.call("open", file);
  } catch (error) {
    await thread.terminate();
    throw error;
  }
  return createStore(thread);
}

function createStore(thread: ThreadClient): Store {
  return {
    async registerWorkflow(workflow) {
      refuseMalformedWorkflow(workflow);
      return thread.call("registerWorkflow", workflow);
    },
    readDefinition: (hash) => thread.call("readDefinition", hash),
    reserveRunId: () => thread.call("reserveRunId"),
    async commit(appends) {
      for (const append of appends) refuseMalformedAppend(append);
      await thread.call("commit", appends.map(packAppend));
    },
    ...createReaders(thread),
    async acquireLease(request) {
      const answer = await thread.call("acquireLease", request);
      if (typeof answer === "number") return { granted: true, fence: answer };
      const lease = unpackLease(answer);
      if (lease === null) throw new TypeError("a free lease was refused");
      return { granted: false, lease };
    },
    renewLease: (runId, fence, expiresAt) => thread.call("renewLease", runId, fence, expiresAt),
    async releaseLease(runId, fence) {
      await thread.call("releaseLease", runId, fence);
    },
    sendCommand: (command) =>
      thread.call("sendCommand", { ...command, command: toStorableText(command.command) }),
    readInbox: (runIds) => thread.call("readInbox", runIds),
    async answerCommand(id, answer) {
      await thread.call("answerCommand", id, toStorableText(answer));
    },
    readAnswer: (id) => thread.call("readAnswer", id),
    close: () => thread.close(),
  };
}

type Reader =
  | "readFailureHandler"
  | "listFailureHandlers"
  | "readRun"
  | "listRuns"
  | "readEvents"
  | "readJobs"
  | "readAttempts"
  | "readRoutes"
  | "readLease";

function createReaders(thread: ThreadClient): Pick<Store, Reader> {
  return {
    async readFailureHandler(id) {
      const row = await thread.call("readFailureHandler", id);
      return row === null ? null : unpackFailureHandler(row);
    },
    async listFailureHandlers(workflowId) {
      const cells = await thread.call("listFailureHandlers", workflowId ?? null);
      return unpackRows(cells, COLUMNS.failure_handler, unpackFailureHandler);
    },
    async readRun(runId) {
      const row = await thread.call("readRun", runId);
      return row === null ? null : unpackRun(row);
    },
    async listRuns(filter) {
      return unpackRows(await thread.call("listRuns", filter), COLUMNS.run, unpackRun);
    },
    async readEvents(runId, range = {}) {
      const cells = await thread.call("readEvents", runId, range.afterSeq ?? 0, range.limit ?? null);
      return unpackRows(cells, LOGGED_EVENT_COLUMNS, unpackEvent);
    },
    async readJobs(runId) {
      return unpackRows(await thread.call("readJobs", runId), COLUMNS.job, unpackJob);
    },
    async readAttempts(runId) {
      return unpackRows(await thread.call("readAttempts", runId), COLUMNS.attempt, unpackAttempt);
    },
    async readRoutes(runId) {
      return unpackRows(await thread.call("readRoutes", runId), COLUMNS.route, unpackRoute);
    },
    async readLease(runId) {
      const row = await thread.call("readLease", runId);
      return row === null ? null : unpackLease(row);
    },
  };
}
