import { createCampaign, listCampaigns, readCampaign, writeCampaign } from "./campaign.js";
import { deleteDraft, listDrafts, readDraft, saveDraft } from "./draft.js";
import type { Dialect, Verb } from "./query.js";
import { endSession, findSession, putSession } from "./session.js";
import { findToken, listTokens, putToken } from "./token.js";

/** The verbs that every database carries out alike: none of them is asked while a run goes on. */
export const READS = {
  ...{ readCampaign, listCampaigns, readDraft, listDrafts },
  ...{ findToken, listTokens, findSession },
} as const;
export const WRITES = {
  ...{ createCampaign, writeCampaign, saveDraft, deleteDraft },
  ...{ putToken, putSession, endSession },
} as const;

type Verbs = { readonly [name: string]: (dialect: Dialect, ...args: never[]) => Verb<unknown> };
export type AnyVerb = (dialect: Dialect, ...args: unknown[]) => Verb<unknown>;
type ArgsOf<F> = F extends (dialect: Dialect, ...args: infer Args) => unknown ? Args : never;
type AnswerOf<F> = F extends (...args: never[]) => Verb<infer T> ? T : never;

export type Now<V extends Verbs> = { readonly [K in keyof V]: (...args: ArgsOf<V[K]>) => AnswerOf<V[K]> };
export type Later<V extends Verbs> = {
  readonly [K in keyof V]: (...args: ArgsOf<V[K]>) => Promise<AnswerOf<V[K]>>;
};

/** The same names, each done by `how`. */
export function each<V extends Verbs, R>(
  verbs: V,
  how: (verb: AnyVerb, name: keyof V & string) => unknown,
): R {
  const made = Object.entries(verbs).map(([name, verb]) => [name, how(verb as AnyVerb, name)]);
  return Object.fromEntries(made) as R;
}
