import type { Episode } from "../../../core/notices/episode.js";
import type { SharedRow } from "../../../store/shared-rows.js";
import { Board, type BoardStore } from "../board.js";
import type { Clock } from "../clock.js";

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
