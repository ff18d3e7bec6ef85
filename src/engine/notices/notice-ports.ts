import type { EvaluationResult } from "../../core/model/events.js";
import type { Notice } from "../../core/notify/notice.js";
import type { Evaluation } from "../../sandbox/sandbox.js";
import type { LeaseOwner, Store } from "../../store/store.js";
import type { Clock } from "../clock.js";

export type NoticeStore = Pick<
  Store,
  | "claimNotices"
  | "listNoticeLeases"
  | "listNotices"
  | "pruneNotices"
  | "findCompletion"
  | "readShared"
  | "writeShared"
  | "dropShared"
  | "readEntries"
  | "listUnanswered"
>;

/** The runs whose notices a process sends that runs no others. */
export interface OwnRuns {
  readonly runIds: readonly number[];
  readonly workflows: readonly string[];
}

export interface NoticePorts {
  readonly store: NoticeStore;
  readonly clock: Clock;
  readonly owner: LeaseOwner;
  readonly isDead: (owner: LeaseOwner) => boolean;
  /** Names of those that this process has. */
  readonly channels: readonly string[];
  /** Null: it sends those of all runs. */
  readonly ownRuns: (() => OwnRuns) | null;
  readonly evaluate: (evaluation: Evaluation) => Promise<EvaluationResult>;
  /** Null: it has arrived; else why not. Never rejects. */
  readonly deliver: (notice: Notice, signal: AbortSignal) => Promise<string | null>;
  /** Called with a sentence for people. */
  readonly tell?: (text: string) => void;
}
