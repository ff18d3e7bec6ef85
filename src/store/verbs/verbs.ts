import { createCampaign, listCampaigns, readCampaign, writeCampaign } from "./campaign.js";
import {
  deleteEnded,
  forgetServer,
  keepServer,
  listAllocations,
  listClusters,
  listServers,
  readAllocation,
  readCluster,
  writeCluster,
} from "./cluster.js";
import type { Dialect } from "./dialect.js";
import { deleteDraft, listDrafts, readDraft, saveDraft } from "./draft.js";
import type { Verb } from "./query.js";
import { endSession, findSession, putSession } from "./session.js";
import { findToken, listTokens, putToken } from "./token.js";
import {
  findRegistered,
  listFailureHandlers,
  listWorkflows,
  readDefinition,
  readFailureHandler,
  readWorkflow,
  readWritten,
  registerWorkflow,
} from "./workflow.js";

/*
 * The verbs that every database carries out alike. How each is carried out where the answer of a database may be lost, so
 * that it is asked again:
 */

/** These only read. */
export const READS = {
  ...{ readCampaign, listCampaigns, readDraft, listDrafts },
  ...{ findToken, listTokens, findSession },
  ...{ findRegistered, readDefinition, readWritten, readFailureHandler, listFailureHandlers },
  ...{ listWorkflows, readWorkflow },
  ...{ readCluster, listClusters, readAllocation, listAllocations, listServers },
} as const;
/** These write the same, however often it is done, in one statement. */
export const PUTS = { keepServer, forgetServer } as const;
/** These are done once, all of it or nothing. */
export const WRITES = {
  ...{ createCampaign, writeCampaign, saveDraft, deleteDraft },
  ...{ putToken, putSession, endSession },
  ...{ registerWorkflow, writeCluster, deleteEnded },
} as const;

export type ColdReads = Now<typeof READS>;
export type ColdWrites = Now<typeof PUTS & typeof WRITES>;
export type ColdVerbs = Later<typeof READS & typeof PUTS & typeof WRITES>;

type Verbs = { readonly [name: string]: (dialect: Dialect, ...args: never[]) => Verb<unknown> };
export type AnyVerb = (dialect: Dialect, ...args: unknown[]) => Verb<unknown>;
type ArgsOf<F> = F extends (dialect: Dialect, ...args: infer Args) => unknown ? Args : never;
type AnswerOf<F> = F extends (...args: never[]) => Verb<infer T> ? T : never;

type Now<V extends Verbs> = { readonly [K in keyof V]: (...args: ArgsOf<V[K]>) => AnswerOf<V[K]> };
type Later<V extends Verbs> = {
  readonly [K in keyof V]: (...args: ArgsOf<V[K]>) => Promise<AnswerOf<V[K]>>;
};

/** The same names, each done by `how`. */
export function each(
  verbs: Verbs,
  how: (verb: AnyVerb, name: string) => unknown,
): { readonly [name: string]: unknown } {
  const made = Object.entries(verbs).map(([name, verb]) => [name, how(verb as AnyVerb, name)]);
  return Object.fromEntries(made);
}
