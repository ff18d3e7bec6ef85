import type { Notice, NoticeState } from "../core/notices/notice.js";

/** States of notices that are not settled. */
export const OPEN_STATES = ["new", "due"] as const satisfies readonly NoticeState[];

export interface NoticeClaim {
  /** Identifies the claim. It is different for each one. */
  readonly lease: string;
  readonly now: number;
  /** How long nobody else gets the notices, on the clock that the store uses for leases. */
  readonly leaseMs: number;
  readonly limit: number;
  readonly state: (typeof OPEN_STATES)[number];
  readonly channels: readonly string[];
  /** Only notices of these runs. */
  readonly runIds?: readonly number[];
  /** Leases of processes that are known to be gone. */
  readonly deadLeases?: readonly string[];
}

/** The outcome for a leased notice. It also ends the lease. */
export interface NoticeChange
  extends Pick<Notice, "id" | "state" | "told" | "tries" | "error" | "settled_at"> {
  readonly lease: string;
  /** The delay until it is due again; 0 for at once. */
  readonly delayMs: number;
}

/** Notices written in the same transaction as shared rows. */
export interface BesideNotices {
  readonly now: number;
  /** New notices. An existing one is not changed. */
  readonly notices?: readonly Notice[];
  /** Changes of notices. If one cannot be made, nothing is written. */
  readonly settled?: readonly NoticeChange[];
}

export interface NoticeFilter {
  readonly limit: number;
  readonly channels?: readonly string[];
  readonly states?: readonly NoticeState[];
  readonly runIds?: readonly number[];
  /** The next page begins after this notice. */
  readonly after?: Pick<Notice, "at" | "id">;
}

/** A step as the workflow's file writes it, in all runs. */
export interface CompletedStep {
  readonly workflow: string;
  readonly step: string;
  readonly since: number;
}

/** Messages for people. A notice is written together with its subject, in a commit or beside shared rows. */
export interface OutboxStore {
  /** Takes open notices that are due and not leased, oldest first. Concurrent callers never get the same one. */
  claimNotices(claim: NoticeClaim): Promise<Notice[]>;
  /** Lists the leases of open notices. */
  listNoticeLeases(): Promise<string[]>;
  /** Newest first. */
  listNotices(filter: NoticeFilter): Promise<Notice[]>;
  /** Deletes notices from before a time and returns their number. */
  pruneNotices(before: number): Promise<number>;
  /** The start of the newest attempt, later than `since`, that completed a job of the step; null if there is none. */
  findCompletion(step: CompletedStep): Promise<number | null>;
}
