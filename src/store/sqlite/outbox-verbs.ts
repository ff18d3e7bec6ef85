import { COLUMNS } from "../tables.js";
import { Conditions } from "../verbs/dialect.js";
import { DIALECT, toCell, toText } from "./answer-now.js";
import type { WriteVerbs } from "./protocol.js";
import type { Cell } from "./sqlite-driver.js";
import type { Statements } from "./statements.js";

export function createOutboxWrites({ run, rows }: Statements): Pick<WriteVerbs, "claimNotices"> {
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
