import { resolve } from "node:path";
import { refuseMalformedAppend } from "../append-rules.js";
import { ChangeListeners } from "../change-listeners.js";
import type { StoreInspection } from "../inspect/store-inspection.js";
import { ownerText } from "../lease-rules.js";
import { toStorableText } from "../storable-text.js";
import type { LeaseOwner, Store } from "../store.js";
import { parseStoredJson } from "../stored-json.js";
import { TABLES } from "../tables.js";
import { threadEntry } from "../thread-entry.js";
import { refuseMalformedWorkflow } from "../workflow-rules.js";
import { createBookVerbs } from "./book-verbs.js";
import { createCampaignVerbs } from "./campaign-verbs.js";
import { createClusterVerbs } from "./cluster-verbs.js";
import { createCountVerbs } from "./count-verbs.js";
import { startDatabaseThread, takeSpareThread } from "./database-thread.js";
import { createOutboxVerbs } from "./outbox-verbs.js";
import { packAppend, unpackLease, unpackRow, unpackTable } from "./packed-rows.js";
import { createPlaceVerbs } from "./place-verbs.js";
import { createRowReaders } from "./row-readers.js";
import { createSharedVerbs } from "./shared-verbs.js";
import { ThreadClient } from "./thread-client.js";

/** Open a database file as a store; the file and its folder are made where they are missing. */
export async function openSqliteStore(options: { readonly file: string }): Promise<Store> {
  const file = resolve(options.file);
  const worker = takeSpareThread() ?? startDatabaseThread(threadEntry(import.meta.url, "./sqlite-thread.js"));
  const thread = new ThreadClient(worker, file);
  try {
    await thread.call("open", file);
  } catch (error) {
    await thread.terminate();
    throw error;
  }
  return createStore(thread);
}

/** On a thread of its own: whoever looks through a large file keeps nobody else waiting. */
export async function inspectSqliteFile(file: string, full: boolean): Promise<StoreInspection> {
  const worker = startDatabaseThread(threadEntry(import.meta.url, "./sqlite-thread.js"));
  const thread = new ThreadClient(worker, file);
  try {
    return await thread.call("inspect", resolve(file), full);
  } finally {
    await thread.terminate();
  }
}

function createStore(thread: ThreadClient): Store {
  const listeners = new ChangeListeners();
  return {
    async registerWorkflow(workflow) {
      refuseMalformedWorkflow(workflow);
      const { source, written } = workflow;
      return thread.call("registerWorkflow", {
        ...workflow,
        ...(source === undefined ? {} : { source: toStorableText(source) }),
        ...(written === undefined ? {} : { written: toStorableText(written) }),
      });
    },
    readDefinition: (hash) => thread.call("readDefinition", hash),
    readWritten: (hash) => thread.call("readWritten", hash),
    reserveRunId: () => thread.call("reserveRunId"),
    async commit(appends) {
      for (const append of appends) refuseMalformedAppend(append);
      const packed = appends.map(packAppend);
      const queues = packed.flatMap(({ moreJobs }) => moreJobs ?? []);
      await thread.callWith(queues, "commit", packed);
      listeners.tellCommit(appends);
    },
    async putPatch(patch) {
      await thread.call("putPatch", patch);
    },
    readPatch: (runId, diffHash) => thread.call("readPatch", runId, diffHash),
    async putSnapshot(snapshot) {
      await thread.call("putSnapshot", snapshot);
    },
    readSnapshot: (runId) => thread.call("readSnapshot", runId),
    deleteRun: (runId) => thread.call("deleteRun", runId),
    ...createRowReaders(thread),
    ...createDraftVerbs(thread),
    ...createLeaseVerbs(thread, listeners),
    ...createWaitingVerbs(thread),
    ...createPlaceVerbs(thread),
    ...createInboxVerbs(thread, listeners),
    ...createTokenVerbs(thread, listeners),
    ...createClusterVerbs(thread),
    ...createBookVerbs(thread),
    ...createCountVerbs(thread),
    ...createCampaignVerbs(thread),
    ...createSharedVerbs(thread, listeners),
    ...createOutboxVerbs(thread),
    onChange: (listener) => listeners.add(listener),
    inspect: (full) => inspectSqliteFile(thread.file, full),
    async ping() {
      await thread.call("ping");
    },
    close: () => thread.close(),
  };
}

type DraftVerb = "saveDraft" | "readDraft" | "listDrafts" | "deleteDraft";

function createDraftVerbs(thread: ThreadClient): Pick<Store, DraftVerb> {
  return {
    async saveDraft(draft) {
      const { saved, draft: row } = await thread.call("saveDraft", draft);
      const present = unpackRow(TABLES.draft, row);
      return present === null ? { saved: false, draft: null } : { saved, draft: present };
    },
    async readDraft(name) {
      return unpackRow(TABLES.draft, await thread.call("readDraft", name));
    },
    async listDrafts() {
      return unpackTable(TABLES.draft, await thread.call("listDrafts"));
    },
    async deleteDraft(name) {
      await thread.call("deleteDraft", name);
    },
  };
}

type WaitingVerb = "putWaiting" | "listWaiting" | "takeWaiting";

function createWaitingVerbs(thread: ThreadClient): Pick<Store, WaitingVerb> {
  return {
    async putWaiting(owner, runs) {
      await thread.call("putWaiting", ownerText(owner), runs);
    },
    listWaiting: (owner) => thread.call("listWaiting", ownerText(owner)),
    async takeWaiting(run, { owner, expiresAt }) {
      const fence = await thread.call("takeWaiting", run, ownerText(owner), expiresAt);
      return fence === null ? null : { runId: run.runId, fence };
    },
  };
}

type LeaseVerb = "acquireLease" | "renewLeases" | "releaseLease" | "claimRuns" | "listOwners";

function createLeaseVerbs(thread: ThreadClient, listeners: ChangeListeners): Pick<Store, LeaseVerb> {
  return {
    async acquireLease(request) {
      const answer = await thread.call("acquireLease", request);
      if (typeof answer === "number") return { granted: true, fence: answer };
      const lease = unpackLease(answer);
      if (lease === null) throw new TypeError("a free lease was refused");
      return { granted: false, lease };
    },
    renewLeases: (leases, _now, expiresAt) => thread.call("renewLeases", leases, expiresAt),
    async releaseLease(runId, fence) {
      const isWanted = await thread.call("releaseLease", runId, fence);
      if (isWanted) listeners.tell("wanted", runId);
    },
    claimRuns: (request) => thread.call("claimRuns", request),
    async listOwners() {
      const owners = await thread.call("listOwners");
      return owners.map(({ owner, mark }) => ({
        owner: parseStoredJson(owner, () => "an owner in the table lease") as LeaseOwner,
        mark,
      }));
    },
  };
}

type InboxVerb = "sendCommand" | "readInbox" | "answerCommand" | "readAnswer" | "forgetCommands";

function createInboxVerbs(thread: ThreadClient, listeners: ChangeListeners): Pick<Store, InboxVerb> {
  return {
    async sendCommand(command) {
      const id = await thread.call("sendCommand", {
        ...command,
        key: toStorableText(command.key),
        command: toStorableText(command.command),
      });
      listeners.tell("inbox", command.runId);
      return id;
    },
    readInbox: (runIds) => thread.call("readInbox", runIds),
    async answerCommand(id, answer) {
      const runId = await thread.call("answerCommand", id, toStorableText(answer));
      if (runId !== null) listeners.tell("answer", runId);
    },
    readAnswer: (id) => thread.call("readAnswer", id),
    async forgetCommands(runId, before) {
      await thread.call("forgetCommands", runId, before);
    },
  };
}

type TokenVerb = "putToken" | "findToken" | "listTokens" | "revokeToken";

function createTokenVerbs(thread: ThreadClient, listeners: ChangeListeners): Pick<Store, TokenVerb> {
  return {
    async putToken(token) {
      const name = toStorableText(token.name);
      return unpackRow(TABLES.token, await thread.call("putToken", { ...token, name }))!;
    },
    async findToken(hash) {
      return unpackRow(TABLES.token, await thread.call("findToken", hash));
    },
    async listTokens() {
      return unpackTable(TABLES.token, await thread.call("listTokens"));
    },
    async revokeToken(id, at) {
      const isRevoked = await thread.call("revokeToken", id, at);
      if (isRevoked) listeners.tell("revoked", 0);
      return isRevoked;
    },
  };
}
