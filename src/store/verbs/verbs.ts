import type { SharedRow } from "../shared-rows.js";
import type { NewInboxCommand, StoreChange } from "../store.js";
import {
  countEndedJobs,
  listBookRows,
  listEntries,
  listUnrolled,
  readEntries,
  rollUp,
  writeTriage,
} from "./book.js";
import { createCampaign, listCampaigns, readCampaign, writeCampaign } from "./campaign.js";
import {
  deleteEnded,
  listAllocations,
  listClusters,
  readAllocation,
  readCluster,
  writeCluster,
} from "./cluster.js";
import { count } from "./count.js";
import {
  endSession,
  findSession,
  findToken,
  listTokens,
  putSession,
  putToken,
  revokeToken,
} from "./credentials.js";
import type { Dialect, Verb } from "./dialect.js";
import { findCompletion, listNoticeLeases, listNotices, pruneNotices } from "./outbox.js";
import {
  answerCommand,
  forgetCommands,
  listRuns,
  listUnanswered,
  putPatch,
  putSnapshot,
  readAnswer,
  readAttempts,
  readCheckpoints,
  readInbox,
  readJob,
  readPatch,
  readRoutes,
  readRun,
  readSnapshot,
  sendCommand,
} from "./run.js";
import { dropShared, forgetServer, keepServer, listServers, readShared, writeShared } from "./shared.js";
import {
  deleteDraft,
  findRegistered,
  listDrafts,
  listFailureHandlers,
  listWorkflows,
  readDefinition,
  readDraft,
  readFailureHandler,
  readWorkflow,
  readWritten,
  registerWorkflow,
  saveDraft,
} from "./workflow.js";

/*
 * The verbs that every database carries out alike. How each is carried out where the answer of a database may be lost, so
 * that it is asked again:
 */

/** Verbs that only read. */
export const READS = {
  ...{ readCampaign, readDraft, findToken, findSession, readInbox, readAnswer },
  ...{ readShared, listNoticeLeases, readRun, readJob },
  ...{ findRegistered, readDefinition, readWritten, readFailureHandler, readWorkflow },
  ...{ readCluster, readAllocation },
} as const;
/** Verbs that read any number of rows, so that the answer may take long. */
export const LISTS = {
  ...{ listCampaigns, listDrafts, listTokens, listFailureHandlers, listWorkflows },
  ...{ listClusters, listAllocations, listServers, readPatch, readSnapshot },
  ...{ listRuns, listUnanswered, readAttempts, readRoutes, readCheckpoints },
  ...{
    listEntries,
    readEntries,
    listUnrolled,
    listBookRows,
    countEndedJobs,
    count,
    listNotices,
    findCompletion,
  },
} as const;
/** Verbs of one statement that write the same however often they are executed. */
export const PUTS = { keepServer, forgetServer, putPatch, putSnapshot, forgetCommands, dropShared } as const;
/** Verbs that must be executed exactly once, completely or not at all. */
export const WRITES = {
  ...{ createCampaign, writeCampaign, saveDraft, deleteDraft },
  ...{ putToken, putSession, endSession },
  ...{ registerWorkflow, writeCluster, deleteEnded, revokeToken, sendCommand, answerCommand },
  ...{ rollUp, writeTriage, writeShared, pruneNotices },
} as const;
/** The change to notify others of after each writing verb. */
export const TELLS: Tells<typeof WRITES> = {
  sendCommand: (_, { runId }: NewInboxCommand) => ({ kind: "inbox", runId }),
  answerCommand: (runId) => (runId === null ? null : { kind: "answer", runId }),
  writeShared: (isWritten, given: readonly SharedRow[]) =>
    isWritten && given.length > 0 ? { kind: "shared", runId: 0 } : null,
  revokeToken: (isRevoked) => (isRevoked ? { kind: "revoked", runId: 0 } : null),
};

export type ColdReads = Now<typeof READS & typeof LISTS>;
export type ColdWrites = Now<typeof PUTS & typeof WRITES>;
export type ColdVerbs = Later<typeof READS & typeof LISTS & typeof PUTS & typeof WRITES>;

type Verbs = { readonly [name: string]: (dialect: Dialect, ...args: never[]) => Verb<unknown> };
export type AnyVerb = (dialect: Dialect, ...args: unknown[]) => Verb<unknown>;
type ArgsOf<F> = F extends (dialect: Dialect, ...args: infer Args) => unknown ? Args : never;
type AnswerOf<F> = F extends (...args: never[]) => Verb<infer T> ? T : never;

type Now<V extends Verbs> = { readonly [K in keyof V]: (...args: ArgsOf<V[K]>) => AnswerOf<V[K]> };
type Later<V extends Verbs> = {
  readonly [K in keyof V]: (...args: ArgsOf<V[K]>) => Promise<AnswerOf<V[K]>>;
};
type Tells<V extends Verbs> = {
  readonly [K in keyof V]?: (answer: AnswerOf<V[K]>, ...args: ArgsOf<V[K]>) => StoreChange | null;
};

/** The change that an executed verb made; null if there is none. */
export function changeOf(name: string, answer: unknown, args: readonly unknown[]): StoreChange | null {
  const tells = TELLS as {
    readonly [name: string]: (answer: unknown, ...args: unknown[]) => StoreChange | null;
  };
  return tells[name]?.(answer, ...args) ?? null;
}

/** All verbs by name, each executed by `how`. */
export function each(
  verbs: Verbs,
  how: (verb: AnyVerb, name: string) => unknown,
): { readonly [name: string]: unknown } {
  const made = Object.entries(verbs).map(([name, verb]) => [name, how(verb as AnyVerb, name)]);
  return Object.fromEntries(made);
}
