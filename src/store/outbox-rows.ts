import type { Notice, NoticeState } from "../core/notify/notice.js";

/** Nobody is done with them. */
export const OPEN_STATES = ["new", "due"] as const satisfies readonly NoticeState[];

export interface NoticeClaim {
  /** Who asks; another with each claim. */
  readonly lease: string;
  readonly now: number;
  /** How long nobody else gets them, on the clock that the store holds leases against. */
  readonly leaseMs: number;
  readonly limit: number;
  readonly state: (typeof OPEN_STATES)[number];
  readonly channels: readonly string[];
  /** Only those of these runs. */
  readonly runIds?: readonly number[];
  /** Leases of processes that are known to be gone. */
  readonly deadLeases?: readonly string[];
}

/** What became of a notice that is leased; whoever wrote it has it no longer. */
export interface NoticeChange
  extends Pick<Notice, "id" | "state" | "told" | "tries" | "error" | "settled_at"> {
  readonly lease: string;
  /** When it is looked at again, from now; 0: at once. */
  readonly delayMs: number;
}

/** Notices that are written in one transaction with rows that runs share. */
export interface BesideNotices {
  readonly now: number;
  /** One that is there already is left as it is. */
  readonly notices?: readonly Notice[];
  /** All of them, or nothing at all is written. */
  readonly settled?: readonly NoticeChange[];
}

export interface NoticeFilter {
  readonly limit: number;
  readonly channels?: readonly string[];
  readonly states?: readonly NoticeState[];
  readonly runIds?: readonly number[];
  /** Where a page goes on: after this one. */
  readonly after?: Pick<Notice, "at" | "id">;
}

/** A step of a workflow as its file writes it, in all its runs. */
export interface CompletedStep {
  readonly workflow: string;
  readonly step: string;
  readonly since: number;
}

/** What people are to be told. A notice comes with what it tells of, in a commit or beside shared rows. */
export interface OutboxStore {
  /** Open ones that are due and that nobody has, oldest first. Two who ask at once never get the same one. */
  claimNotices(claim: NoticeClaim): Promise<Notice[]>;
  /** The leases under which open ones are held. */
  listNoticeLeases(): Promise<string[]>;
  /** Newest first. */
  listNotices(filter: NoticeFilter): Promise<Notice[]>;
  /** Those of before. The answer is how many there were. */
  pruneNotices(before: number): Promise<number>;
  /** When the newest attempt began, later than `since`, with which a job of the step completed; null: there is none. */
  findCompletion(step: CompletedStep): Promise<number | null>;
}
