import type { EvaluationResult } from "../../../core/model/events.js";
import type { Episode } from "../../../core/notices/episode.js";
import type { Notice } from "../../../core/notices/notice.js";
import type { SharedRow } from "../../../store/shared-rows.js";
import type { LeaseOwner, Store } from "../../../store/store.js";
import type { Evaluation } from "../../sandbox/sandbox.js";
import { Board, type BoardStore } from "../board.js";
import type { Clock } from "../clock.js";

type NoticeStore = Pick<
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
interface OwnRuns {
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

export const EPISODES = "episode";

export function episodeName({ channel, thing }: Pick<Episode, "channel" | "thing">): string {
  return JSON.stringify([channel, thing]);
}

/** Opens episodes for one piece of work only, because there may be very many and none is needed for long. */
export function openEpisodes(store: BoardStore, clock: Pick<Clock, "now">): Board<Episode | null> {
  return new Board(EPISODES, store, clock, readEpisode);
}

export function readEpisode(row: SharedRow | undefined): Episode | null {
  return row === undefined ? null : (JSON.parse(row.data) as Episode);
}
