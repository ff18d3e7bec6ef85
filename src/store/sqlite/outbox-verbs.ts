import type { BesideNotices, NoticeChange, OutboxStore } from "../outbox-rows.js";
import { COLUMNS, TABLES } from "../tables.js";
import type { Caller } from "./caller.js";
import { outboxWriter } from "./commit-writer.js";
import { type Cells, packRows, unpackTable } from "./packed-rows.js";
import type { ReadVerbs, WriteVerbs } from "./protocol.js";
import type { Cell, Database } from "./sqlite-driver.js";
import { Conditions, type Statements } from "./statements.js";

/** As `BesideNotices`, with rows as flat lists. */
export interface PackedBeside {
  readonly now: number;
  readonly notices: Cell[];
  readonly settled: readonly NoticeChange[];
}

const IS_OPEN = "state IN ('new', 'due')";
const JSON_LIST = "(SELECT value FROM json_each(?))";

export function packBeside({ now, notices = [], settled = [] }: BesideNotices): PackedBeside {
  return { now, notices: packRows(TABLES.outbox, notices), settled };
}

/** False: one of them is not leased so any more, and nothing is written. */
export function settle({ run, row }: Statements, db: Database, beside: PackedBeside): boolean {
  const { now, notices, settled } = beside;
  for (const { id, lease } of settled)
    if (row("SELECT 1 FROM outbox WHERE id = ? AND lease = ?", id, lease) === null) return false;
  for (const { id, state, told, tries, error, settled_at, delayMs } of settled)
    run(
      `UPDATE outbox SET state = ?, told = ?, tries = ?, error = ?, settled_at = ?, next_at = ?, lease = NULL,
         leased_until = 0 WHERE id = ?`,
      ...[state, told === null ? null : JSON.stringify(told), tries, error, settled_at, now + delayMs, id],
    );
  if (notices.length > 0) outboxWriter(db).write(notices);
  return true;
}

export function createOutboxReads({
  row,
  rows,
}: Statements): Pick<ReadVerbs, "listNotices" | "listNoticeLeases" | "findCompletion"> {
  return {
    listNotices: ({ limit, channels, states, runIds, after }) => {
      const conditions = new Conditions().demandOneOf("channel", channels).demandOneOf("state", states);
      if (runIds !== undefined) conditions.demand(`run_id IN ${JSON_LIST}`, JSON.stringify(runIds));
      if (after !== undefined) conditions.demandAll("(at, id) < (?, ?)", after.at, after.id);
      const sql = `SELECT ${COLUMNS.outbox} FROM outbox ${conditions.where} ORDER BY at DESC, id DESC LIMIT ?`;
      return rows(sql, ...conditions.cells, limit).flat();
    },
    listNoticeLeases: () =>
      rows<readonly [string]>(
        `SELECT DISTINCT lease FROM outbox WHERE ${IS_OPEN} AND lease IS NOT NULL ORDER BY lease`,
      ).map(([lease]) => lease),
    findCompletion: ({ workflow, step, since }) =>
      row<readonly [number | null]>(
        `SELECT max(attempt.started_at) FROM run
         CROSS JOIN job ON job.run_id = run.id AND job.step = ?1 AND job.status = 'completed'
         CROSS JOIN attempt ON attempt.run_id = run.id AND attempt.job_id = job.id
           AND attempt.attempt = job.attempt_id AND attempt.status = 'succeeded' AND attempt.started_at > ?2
         WHERE run.workflow = ?3 AND (run.finished_at IS NULL OR run.finished_at > ?2)
           AND json_extract(run.options, '$.imported') IS NULL`,
        ...[step, since, workflow],
      )?.[0] ?? null,
  };
}

export function createOutboxWrites({
  run,
  rows,
}: Statements): Pick<WriteVerbs, "claimNotices" | "pruneNotices"> {
  return {
    claimNotices: ({ lease, now, leaseMs, limit, state, channels, runIds, deadLeases = [] }) => {
      const conditions = new Conditions()
        .demandIf(true, IS_OPEN)
        .demand("state = ?", state)
        .demand("next_at <= ?", now)
        .demandOneOf("channel", channels)
        .demandAll(
          `(lease IS NULL OR leased_until <= ? OR lease IN ${JSON_LIST})`,
          now,
          JSON.stringify(deadLeases),
        );
      if (runIds !== undefined) conditions.demand(`run_id IN ${JSON_LIST}`, JSON.stringify(runIds));
      const found = rows(
        `SELECT ${COLUMNS.outbox} FROM outbox ${conditions.where} ORDER BY at, id LIMIT ?`,
        ...conditions.cells,
        limit,
      );
      for (const [id] of found)
        run("UPDATE outbox SET lease = ?, leased_until = ? WHERE id = ?", lease, now + leaseMs, id!);
      return found.flat();
    },
    pruneNotices: (before) => run("DELETE FROM outbox WHERE at < ?", before).changes,
  };
}

export function createOutboxVerbs(thread: Caller): OutboxStore {
  const unpack = (cells: Cells) => unpackTable(TABLES.outbox, cells);
  return {
    claimNotices: async (claim) => unpack(await thread.call("claimNotices", claim)),
    listNoticeLeases: () => thread.call("listNoticeLeases"),
    listNotices: async (filter) => unpack(await thread.call("listNotices", filter)),
    pruneNotices: (before) => thread.call("pruneNotices", before),
    findCompletion: (step) => thread.call("findCompletion", step),
  };
}
