import type { WaitingRun } from "../store.js";
import type { ReadVerbs, WriteVerbs } from "./protocol.js";
import type { Statements } from "./statements.js";

/** Whether the lease is still the one under which the run was listed as waiting. */
const IS_HELD_AS_NAMED = `EXISTS (
  SELECT 1 FROM lease
  WHERE lease.run_id = waiting_run.run_id AND lease.fence = waiting_run.fence AND lease.owner = waiting_run.owner)`;

export function createWaitingWrites(statements: Statements): Pick<WriteVerbs, "putWaiting" | "takeWaiting"> {
  const { run, row } = statements;
  return {
    putWaiting: (owner, runs) => {
      run(`DELETE FROM waiting_run WHERE owner = ? OR NOT ${IS_HELD_AS_NAMED}`, owner);
      for (const { runId, fence, seq, asks } of runs)
        run(
          `INSERT OR REPLACE INTO waiting_run (run_id, fence, seq, owner, asks)
           SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM run WHERE id = ?1)`,
          ...[runId, fence, seq, owner, asks],
        );
      return null;
    },
    takeWaiting: ({ runId, fence, seq }, owner, expiresAt) => {
      const taken = row<readonly [number]>(
        `UPDATE lease SET fence = fence + 1, owner = ?1, expires_at = ?2
         WHERE run_id = ?3 AND fence = ?4 AND owner IS NOT NULL
           AND ifnull((SELECT max(seq) FROM event WHERE event.run_id = ?3), 0) = ?5
         RETURNING fence`,
        ...[owner, expiresAt, runId, fence, seq],
      );
      if (taken === null) return null;
      run("DELETE FROM waiting_run WHERE run_id = ?", runId);
      return taken[0];
    },
  };
}

export function createWaitingReads({ rows }: Statements): Pick<ReadVerbs, "listWaiting"> {
  return {
    listWaiting: (owner) =>
      rows<readonly [number, number, number, string]>(
        `SELECT run_id, fence, seq, asks FROM waiting_run
         WHERE owner <> ? AND ${IS_HELD_AS_NAMED} ORDER BY run_id`,
        owner,
      ).map(([runId, fence, seq, asks]): WaitingRun => ({ runId, fence, seq, asks })),
  };
}
