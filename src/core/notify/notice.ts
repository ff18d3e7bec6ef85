import type { NoticeKind } from "../model/definition.js";
import type { Labels } from "../text/labels.js";
import type { Expiry } from "./expiry.js";

/** `new`: nobody has looked at it. `due`: it is to be sent. The others are final; a `counted` one was not worth a message. */
export const NOTICE_STATES = ["new", "due", "delivered", "counted", "undelivered"] as const;
export type NoticeState = (typeof NOTICE_STATES)[number];

/** What `when` sees, as one variable. */
export const NOTICE_VARIABLE = "notice";
export const NOTICE_FIELDS = [
  ...(["kind", "workflow", "run_id", "step", "scope", "attempt"] as const),
  ...(["code", "class", "message", "labels", "name"] as const),
] as const;

/**
 * One thing that somebody may have to hear, for one channel. It is written with what it tells of, and all that a message
 * needs stands in it: the run may be gone when it is sent.
 */
export interface Notice {
  /** The same for the same cause; receivers see it, so it is of no use to guess. */
  readonly id: string;
  readonly at: number;
  readonly kind: NoticeKind;
  readonly channel: string;
  /** What it is about. Notices of one channel about one thing are an episode. */
  readonly thing: string;
  readonly run_id: number | null;
  readonly workflow: string | null;
  readonly step: string | null;
  readonly signature: string | null;
  /** The rule's `when`. */
  readonly condition: string | null;
  readonly facts: NoticeFacts;
  readonly state: NoticeState;
  readonly told: Told | null;
  /** How often it was tried to send it. */
  readonly tries: number;
  readonly error: string | null;
  /** When it is looked at next, on the store's clock. */
  readonly next_at: number;
  readonly settled_at: number | null;
}

/** Why it is worth a message. */
export interface Told {
  readonly as: "first" | "again" | "reminder" | "recovered";
  /** How often it has happened in this episode. */
  readonly count: number;
  readonly since: number;
}

export interface NoticeFacts {
  /** Null: nobody wants to hear that it works again; else the `when` of that rule. */
  readonly recovery: { readonly when: string | null } | null;
  readonly scope?: string;
  readonly job_id?: number;
  readonly attempt?: number;
  /** The file and labels of the run. */
  readonly file?: string | null;
  readonly labels?: Labels;
  readonly managed?: boolean;
  readonly code?: string;
  readonly class?: string;
  readonly message?: string;
  /** What the step printed last. */
  readonly lines?: readonly string[];
  /** The rungs that could have answered the failure, and why they did not, or not for good. */
  readonly tried?: readonly { readonly rung: string; readonly reason: string }[];
  /** Of the run at that time. */
  readonly held?: number;
  readonly questions?: number;
  /** The run was undone, or is being undone: nothing of it can go on. */
  readonly undone?: true;
  /** Other steps that failed with it. */
  readonly others?: readonly string[];
  readonly prompt?: string;
  readonly choices?: readonly string[];
  readonly due_at?: number | null;
  /** Of a hold or a question that ends by itself. */
  readonly expiry?: Expiry;
  /** A time limit that was passed. */
  readonly limit_ms?: number;
  /** Of a breaker or a worker. */
  readonly name?: string;
  readonly reason?: string;
  /** Of a breaker: who opened it by hand. */
  readonly by?: string;
  /** Of a reminder: when it was told last. */
  readonly told_at?: number;
  /** Of a recovery: when the attempt began that succeeded. */
  readonly begun_at?: number;
  /** Of a recovery: what it is over with. */
  readonly was?: NoticeKind;
}

export type NoticeCause = Pick<Notice, "kind" | "thing" | "run_id" | "workflow" | "step" | "signature"> & {
  readonly facts: Omit<NoticeFacts, "recovery">;
};

/** What `when` sees. */
export function noticeVariable({ kind, workflow, run_id, step, facts }: NoticeCause) {
  const { scope = null, attempt = null, code = null, message = null, labels = {}, name = null } = facts;
  return {
    [NOTICE_VARIABLE]: {
      ...{ kind, workflow, run_id, step, scope, attempt, code, class: facts.class ?? null, message },
      ...{ labels: { ...labels }, name },
    },
  };
}
