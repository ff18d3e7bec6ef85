import type { NoticeKind } from "../model/definition.js";
import type { UncleanChild } from "../model/events.js";
import type { Decision } from "../model/rows.js";
import type { StepPlace } from "../model/written-step.js";
import type { Json } from "../text/json.js";
import type { Labels } from "../text/labels.js";
import {
  type Fields,
  freeText,
  id,
  jsonOf,
  nullable,
  type OfFields,
  text,
  time,
  word,
} from "../text/shape.js";
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
export const NOTICE = {
  /** Equal for the same cause. Receivers see it, and nothing is gained by guessing one. */
  id: text,
  at: time,
  kind: word<NoticeKind>(),
  channel: text,
  /** What it is about. Notices of one channel about one thing are an episode. */
  thing: freeText,
  run_id: nullable(id),
  workflow: nullable(freeText),
  step: nullable(freeText),
  signature: nullable(text),
  /** The rule's `when`. */
  condition: nullable(freeText),
  facts: jsonOf<NoticeFacts>(),
  state: word(NOTICE_STATES),
  told: nullable(jsonOf<Told>()),
  /** How often it was tried to send it. */
  tries: id,
  error: nullable(freeText),
  /** When it is looked at next, on the store's clock. */
  next_at: time,
  settled_at: nullable(time),
} as const satisfies Fields;
export type Notice = OfFields<typeof NOTICE>;

/** Why it is worth a message. */
export interface Told {
  readonly as: "first" | "again" | "reminder" | "recovered";
  /** How often it has happened in this episode. */
  readonly count: number;
  readonly since: number;
}

export interface NoticeFacts {
  /** Null if nobody wants to know when it works again; else the `when` of that rule. */
  readonly recovery: { readonly when: string | null } | null;
  readonly scope?: string;
  /** The family of the step, if it has one. */
  readonly family?: string;
  readonly job_id?: number;
  readonly attempt?: number;
  /** The file and labels of the run. */
  readonly file?: string | null;
  readonly labels?: Labels;
  readonly managed?: boolean;
  readonly code?: string;
  readonly class?: string;
  readonly message?: string;
  /** One line that says what broke. */
  readonly broke?: string;
  /** The printed lines that tell what broke. */
  readonly lines?: readonly string[];
  /** The rungs that could have answered the failure, and why they did not, or not for good. */
  readonly tried?: readonly { readonly rung: string; readonly reason: string }[];
  /** The number of the run's holds at that time. */
  readonly held?: number;
  readonly questions?: number;
  /** The run was undone, or is being undone: nothing of it can go on. */
  readonly undone?: true;
  /** Other steps that failed with it. */
  readonly others?: readonly string[];
  /** What put an end to the step of a run that completed, where nothing handled its failure. */
  readonly decided?: Decision;
  /** What was not mended in the child run of the step of a run that completed, where nothing else is to be told of it. */
  readonly below?: UncleanChild;
  readonly prompt?: string;
  readonly choices?: readonly string[];
  readonly due_at?: number | null;
  /** For a hold or a question that expires. */
  readonly expiry?: Expiry;
  /** A time limit that was passed. */
  readonly limit_ms?: number;
  /** The name of a breaker or a worker. */
  readonly name?: string;
  readonly reason?: string;
  /** For a breaker: who opened it by hand. */
  readonly by?: string;
  /** For a reminder: when the last message was. */
  readonly told_at?: number;
  /** For a recovery: when the successful attempt began. */
  readonly begun_at?: number;
  /** For a recovery: the kind of notice that it ends. */
  readonly was?: NoticeKind;
}

/** The place of the notice's step; null if it is about none. */
export function placeOfNotice({ step, facts }: Pick<Notice, "step" | "facts">): StepPlace | null {
  return step === null ? null : { step, scope: facts.scope ?? "root", family: facts.family ?? null };
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

/** A notice as people read it. */
export interface Message {
  /** The same id every time it is sent. */
  readonly id: string;
  readonly at: number;
  readonly kind: NoticeKind | "test";
  /** One line. */
  readonly subject: string;
  readonly text: string;
  /** Its place in the page of the server, where that is known. */
  readonly link: string | null;
  /** The message's data for programs. */
  readonly data: { readonly [field: string]: Json };
}
