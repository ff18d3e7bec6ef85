import type { AttemptRow, JobRow, RunRow } from "../../core/model/rows.js";
import type { Notice } from "../../core/notify/notice.js";
import {
  type BesideNotices,
  type CompletedStep,
  compareNotices,
  isOpenNotice,
  type NoticeClaim,
  type NoticeFilter,
  type OutboxStore,
} from "../outbox-rows.js";
import { type MemoryTables, type OpenTables, parseRow } from "./memory-tables.js";

export function createOutboxVerbs(open: OpenTables): OutboxStore {
  const all = () => [...open().outbox.values()].map(({ text }) => parseRow<Notice>(text));
  return {
    async claimNotices(claim) {
      const { outbox } = open();
      const taken = all()
        .filter((notice) => isFree(open(), notice, claim))
        .sort((a, b) => compareNotices(b, a))
        .slice(0, claim.limit);
      for (const { id } of taken) {
        const leased = { lease: claim.lease, leasedUntil: claim.now + claim.leaseMs };
        outbox.set(id, { ...outbox.get(id)!, ...leased });
      }
      return taken;
    },
    async listNoticeLeases() {
      const leased = [...open().outbox.values()].filter(({ text }) => isOpenNotice(parseRow<Notice>(text)));
      return [...new Set(leased.flatMap(({ lease }) => lease ?? []))].sort();
    },
    listNotices: async (filter) =>
      all()
        .filter((notice) => isAsked(notice, filter))
        .sort(compareNotices)
        .slice(0, filter.limit),
    async pruneNotices(before) {
      const old = all().filter(({ at }) => at < before);
      for (const { id } of old) open().outbox.delete(id);
      return old.length;
    },
    findCompletion: async (step) => findCompletion(open(), step),
  };
}

function isFree({ outbox }: MemoryTables, notice: Notice, claim: NoticeClaim): boolean {
  const { lease, leasedUntil } = outbox.get(notice.id)!;
  return (
    notice.state === claim.state &&
    notice.next_at <= claim.now &&
    claim.channels.includes(notice.channel) &&
    (claim.runIds === undefined || (notice.run_id !== null && claim.runIds.includes(notice.run_id))) &&
    (lease === null || leasedUntil <= claim.now || claim.deadLeases?.includes(lease) === true)
  );
}

function isAsked(notice: Notice, { channels, states, runIds, after }: NoticeFilter): boolean {
  return (
    (channels === undefined || channels.includes(notice.channel)) &&
    (states === undefined || states.includes(notice.state)) &&
    (runIds === undefined || (notice.run_id !== null && runIds.includes(notice.run_id))) &&
    (after === undefined || compareNotices(after, notice) < 0)
  );
}

function findCompletion({ runs }: MemoryTables, { workflow, step, since }: CompletedStep): number | null {
  let newest: number | null = null;
  for (const tables of runs.values()) {
    const run = parseRow<RunRow>(tables.run);
    if (run.workflow !== workflow || run.options.imported === true) continue;
    if (run.finished_at !== null && run.finished_at <= since) continue;
    for (const text of tables.jobs.values()) {
      const job = parseRow<JobRow>(text);
      if (job.step !== step || job.status !== "completed") continue;
      const attempt = tables.attempts.get(`${job.id}/${job.attempt_id}`);
      const { started_at, status } = attempt === undefined ? NO_ATTEMPT : parseRow<AttemptRow>(attempt);
      if (status === "succeeded" && started_at > since) newest = Math.max(newest ?? 0, started_at);
    }
  }
  return newest;
}

const NO_ATTEMPT: Pick<AttemptRow, "started_at" | "status"> = { started_at: 0, status: "stopped" };

/** False: one of those that are settled is not leased so any more. */
export function maySettle({ outbox }: MemoryTables, { settled = [] }: BesideNotices): boolean {
  return settled.every(({ id, lease }) => outbox.get(id)?.lease === lease);
}

export function writeBeside(tables: MemoryTables, { now, notices = [], settled = [] }: BesideNotices): void {
  tables.putNotices(notices);
  for (const { id, lease: _, delayMs, ...change } of settled) {
    const before = parseRow<Notice>(tables.outbox.get(id)!.text);
    const text = JSON.stringify({ ...before, ...change, next_at: now + delayMs });
    tables.outbox.set(id, { text, lease: null, leasedUntil: 0 });
  }
}
