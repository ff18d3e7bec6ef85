import type { Notice, Told } from "./notice.js";

const DAY_MS = 24 * 60 * 60_000;
/** An episode that nobody has heard of for so long is over. */
export const QUIET_MS = 7 * DAY_MS;
export const REMINDER_MS = DAY_MS;
/** How long sending a message is tried. */
export const DELIVERY_MS = DAY_MS;
export const NOTICES_KEPT_MS = 30 * DAY_MS;
const FIRST_DELAY_MS = 10_000;
const MAX_DELAY_MS = 60 * 60_000;

/** What a channel has heard of one thing. */
export interface Episode {
  readonly channel: string;
  readonly thing: string;
  /** How often it has happened; 0: it is over. */
  readonly count: number;
  readonly first_at: number;
  readonly last_at: number;
  /** The time of the last message; null if there was none. */
  readonly told_at: number | null;
  /** The last occurrence: an attempt of a job counts once, however often it is heard of. */
  readonly occurrence: string;
  /** The last notice, for later messages. */
  readonly last: Notice;
}

/** What became of a notice. */
export interface Verdict {
  readonly episode: Episode | null;
  /** Null if it is not worth a message. */
  readonly told: Told | null;
}

/** Takes one more notice of an episode. `isMuted`: people do not want messages about it. */
export function takeNotice(
  before: Episode | null,
  notice: Notice,
  { now, isMuted }: { readonly now: number; readonly isMuted: boolean },
): Verdict {
  // Every run that completes is worth its message: there is nothing to count, to remind of or to remember.
  if (notice.kind === "completed")
    return { episode: before, told: { as: "first", count: 1, since: notice.at } };
  const episode = before === null || before.count === 0 || isForgotten(before, now) ? null : before;
  if (notice.kind === "recovered") return recover(episode, notice);
  if (notice.facts.told_at !== undefined) return remind(episode, notice, { now, isMuted });
  const occurrence = occurrenceOf(notice);
  const isHeardOf = episode?.occurrence === occurrence;
  const count = (episode?.count ?? 0) + (isHeardOf ? 0 : 1);
  // If the message was only suppressed because it was muted, it follows after the unmuting.
  const isTold = !isMuted && (episode?.told_at == null || (!isHeardOf && isPowerOfTen(count)));
  const since = episode?.first_at ?? notice.at;
  const next: Episode = {
    ...{ channel: notice.channel, thing: notice.thing, count, first_at: since },
    last_at: Math.max(episode?.last_at ?? 0, notice.at),
    told_at: isTold ? now : (episode?.told_at ?? null),
    occurrence,
    last: notice,
  };
  const as = episode?.told_at == null ? "first" : "again";
  return { episode: next, told: isTold ? { as, count, since } : null };
}

function occurrenceOf({ id, facts: { job_id, attempt } }: Notice): string {
  return job_id === undefined ? id : `${job_id}/${attempt ?? 0}`;
}

function isPowerOfTen(count: number): boolean {
  return /^10*$/.test(String(count));
}

/** Reports a recovery to people who were informed about the failure, and ends the episode. */
function recover(episode: Episode | null, { facts }: Notice): Verdict {
  if (episode === null || (facts.begun_at ?? Number.POSITIVE_INFINITY) <= episode.last_at)
    return { episode, told: null };
  const { count, first_at: since, told_at } = episode;
  return {
    episode: { ...episode, count: 0 },
    told: told_at === null || facts.recovery === null ? null : { as: "recovered", count, since },
  };
}

function remind(
  episode: Episode | null,
  { facts }: Notice,
  { now, isMuted }: { readonly now: number; readonly isMuted: boolean },
): Verdict {
  if (episode === null || isMuted || episode.told_at !== facts.told_at) return { episode, told: null };
  const { count, first_at: since } = episode;
  return { episode: { ...episode, told_at: now }, told: { as: "reminder", count, since } };
}

/** Told a day ago, and nobody has decided. */
export function isReminderDue({ count, told_at }: Episode, now: number): boolean {
  return count > 0 && told_at !== null && now >= told_at + REMINDER_MS;
}

/** Nothing was heard of it for a week. */
export function isForgotten({ last_at, told_at }: Episode, now: number): boolean {
  return now >= Math.max(last_at, told_at ?? 0) + QUIET_MS;
}

/** How long to wait after so many tries. */
export function delayAfter(tries: number): number {
  return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, tries - 1));
}
