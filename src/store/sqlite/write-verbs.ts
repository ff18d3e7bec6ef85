import type { RunStatus } from "../../core/model/rows.js";
import { COLUMNS } from "../tables.js";
import { Conditions } from "../verbs/dialect.js";
import { mayDeleteRun } from "../write-rules.js";
import { createColdWrites, DIALECT, toCell, toText } from "./answer-now.js";
import { CommitWriter } from "./commit-writer.js";
import { createLeaseWrites, createWaitingWrites } from "./lease-verbs.js";
import type { WriteVerbs } from "./protocol.js";
import { createSlotWrites } from "./slot-verbs.js";
import { type Cell, type Database, keepStatements, type Statements } from "./sqlite-driver.js";

/** The writing verbs. Each runs within a transaction that the caller has opened. */
export function createWriteVerbs(db: Database): WriteVerbs {
  const statements = keepStatements(db);
  const { run, row } = statements;
  const writer = new CommitWriter(db, statements);
  return {
    reserveRunId: () =>
      row<readonly [number]>(
        "UPDATE counter SET value = value + 1 WHERE name = 'run' RETURNING value",
      )?.[0] ?? 0,
    commit: (appends) => {
      try {
        writer.writeAll(appends);
      } finally {
        for (const { moreJobs } of appends) moreJobs?.close();
      }
      return null;
    },
    ...createLeaseWrites(statements),
    ...createWaitingWrites(statements),
    ...createSlotWrites(statements),
    ...createColdWrites(db),
    ...createOutboxWrites(statements),
    deleteRun: (runId) => deleteRun(statements, runId),
    // A write, because a full disk still answers reads; with a new value, because SQLite skips a write that changes
    // nothing.
    ping: () => {
      run("INSERT INTO counter VALUES ('ping', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1");
      return null;
    },
  };
}

function deleteRun({ run, row }: Statements, runId: number): boolean {
  const found = row<readonly [RunStatus, 0 | 1]>(
    `SELECT run.status, lease.owner IS NOT NULL FROM run LEFT JOIN lease ON lease.run_id = run.id WHERE run.id = ?`,
    runId,
  );
  if (found === null) return false;
  const [status, isLeaseHeld] = found;
  if (!mayDeleteRun({ status, isLeaseHeld: isLeaseHeld === 1 })) return false;
  // Rows that no entry contains yet are kept until they are rolled up.
  run("DELETE FROM book_row WHERE run_id = ? AND rolled", runId);
  for (const table of ["event", "job", "attempt", "route", "lease", "inbox"]) {
    run(`DELETE FROM ${table} WHERE run_id = ?`, runId);
  }
  run("DELETE FROM run WHERE id = ?", runId);
  return true;
}

function createOutboxWrites({ run, rows }: Statements): Pick<WriteVerbs, "claimNotices"> {
  return {
    claimNotices: ({ lease, now, leaseMs, limit, state, channels, runIds, deadLeases = [] }) => {
      const { where, values } = new Conditions(DIALECT)
        .demandIf(true, "state IN ('new', 'due')")
        .demand("state = ?", state)
        .demand("next_at <= ?", now)
        .demandOneOf("channel", channels, "text")
        .demandOneOf("run_id", runIds, "bigint")
        .demandAll(
          `(lease IS NULL OR leased_until <= ? OR ${DIALECT.among("lease", "?", "text")})`,
          ...[now, deadLeases],
        );
      const sql = `SELECT ${COLUMNS.outbox} FROM outbox ${where} ORDER BY at, id LIMIT ?`;
      const found = rows(toText(sql), ...(values.map(toCell) as Cell[]), limit);
      for (const [id] of found)
        run("UPDATE outbox SET lease = ?, leased_until = ? WHERE id = ?", lease, now + leaseMs, id!);
      return found.flat();
    },
  };
}
