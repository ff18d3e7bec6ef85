import type { EvaluationResult } from "../../../core/model/events.js";
import type { Notice } from "../../../core/notices/notice.js";
import type { LeaseOwner, Store } from "../../../store/store.js";
import type { Evaluation } from "../../sandbox/sandbox.js";
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

/** The runs of a process that sends only their own notices. */
export interface OwnRuns {
  readonly runIds: readonly number[];
  readonly workflows: readonly string[];
}

export interface NoticePorts {
  readonly store: NoticeStore;
  readonly clock: Clock;
  readonly owner: LeaseOwner;
  readonly isDead: (owner: LeaseOwner) => boolean;
  /** Names of the channels that this process has. */
  readonly channels: readonly string[];
  /** Null if it sends the notices of all runs. */
  readonly ownRuns: (() => OwnRuns) | null;
  readonly evaluate: (evaluation: Evaluation) => Promise<EvaluationResult>;
  /** Delivers a notice. Returns null if it has arrived, else the reason. Never rejects. */
  readonly deliver: (notice: Notice, signal: AbortSignal) => Promise<string | null>;
  /** Called with a sentence for people. */
  readonly tell?: (text: string) => void;
}
