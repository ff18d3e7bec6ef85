import { bookKey, triageState } from "../../../core/book/book.js";
import { writtenStep } from "../../../core/model/written-step.js";
import { DELIVERY_MS, takeNotice } from "../../../core/notices/episode.js";
import { type Notice, noticeVariable, placeOfNotice } from "../../../core/notices/notice.js";
import type { NoticeChange } from "../../../store/outbox-rows.js";
import { episodeName, type NoticePorts, openEpisodes } from "./notice-ports.js";

/**
 * Well below the lease of the notices. A server that takes longer has lost them to another one, and its write is
 * refused.
 */
const JUDGED_FOR_MS = 60_000;

/**
 * Selects the notices that deserve a message. Each is counted in its episode, in the transaction that records its fate.
 * Those for which slow expressions leave no time are judged again after their lease.
 */
export async function judgeNotices(
  ports: NoticePorts,
  notices: readonly Notice[],
  lease: string,
): Promise<void> {
  const muted = await findMuted(ports, notices);
  const groups = new Map<string, Notice[]>();
  const until = ports.clock.elapsed() + JUDGED_FOR_MS;
  for (const notice of notices) {
    if (ports.clock.elapsed() >= until) break;
    const isLate = ports.clock.now() >= notice.at + DELIVERY_MS;
    if (isLate || !(await isWanted(ports, notice))) await drop(ports, notice, lease, isLate);
    else groups.set(notice.thing, [...(groups.get(notice.thing) ?? []), notice]);
  }
  for (const group of groups.values()) await judgeEpisode(ports, group, { lease, muted });
}

async function judgeEpisode(
  { store, clock }: NoticePorts,
  notices: readonly Notice[],
  { lease, muted }: { readonly lease: string; readonly muted: ReadonlySet<string> },
): Promise<void> {
  const name = episodeName(notices[0]!);
  let settled: NoticeChange[] = [];
  await openEpisodes(store, clock).change(
    [name],
    (found, now) => {
      settled = [];
      const before = found.get(name) ?? null;
      let episode = before;
      for (const notice of notices) {
        const verdict = takeNotice(episode, notice, { now, isMuted: muted.has(notice.id) });
        episode = verdict.episode;
        settled.push(changeOf(notice, lease, { told: verdict.told, now: clock.now() }));
      }
      return episode === before ? new Map() : new Map([[name, episode]]);
    },
    () => ({ settled }),
  );
}

function changeOf(
  { id, tries }: Notice,
  lease: string,
  { told, now }: { readonly told: Notice["told"]; readonly now: number },
): NoticeChange {
  const isTold = told !== null;
  const state = isTold ? "due" : "counted";
  return { id, lease, state, told, tries, error: null, settled_at: isTold ? null : now, delayMs: 0 };
}

/** A failing expression must not suppress a message about a failure. */
async function isWanted({ evaluate, clock }: NoticePorts, notice: Notice): Promise<boolean> {
  if (notice.condition === null) return true;
  const variables = noticeVariable(notice);
  const result = await evaluate({
    ...{ code: notice.condition, variables, now: clock.now(), expects: "boolean" as const },
  });
  return !result.ok || result.value !== false;
}

async function drop(
  { store, clock }: NoticePorts,
  notice: Notice,
  lease: string,
  isLate: boolean,
): Promise<void> {
  const now = clock.now();
  const late = { state: "undelivered" as const, error: "no process had the channel for 24 hours" };
  const change = { ...changeOf(notice, lease, { told: null, now }), ...(isLate ? late : {}) };
  await store.writeShared([], { now, settled: [change] });
}

/** The notices whose failures people have muted in the failure book. */
async function findMuted({ store, clock }: NoticePorts, notices: readonly Notice[]): Promise<Set<string>> {
  const keys = notices.flatMap((notice) => {
    const { id, workflow, signature } = notice;
    const place = placeOfNotice(notice);
    return workflow === null || place === null || signature === null
      ? []
      : [{ id, workflow, step: writtenStep(place), signature }];
  });
  if (keys.length === 0) return new Set();
  const distinct = [...new Map(keys.map(({ id: _, ...key }) => [bookKey(key), key])).values()];
  const entries = await store.readEntries(distinct);
  const muted = new Set(
    entries.filter((entry) => triageState(entry, clock.now()) === "muted").map((entry) => bookKey(entry)),
  );
  return new Set(keys.filter((key) => muted.has(bookKey(key))).map(({ id }) => id));
}
