import { COLUMNS } from "../tables.js";
import type { WriteVerbs } from "./protocol.js";
import { Conditions, type Statements } from "./statements.js";

const IS_OPEN = "state IN ('new', 'due')";
const JSON_LIST = "(SELECT value FROM json_each(?))";

export function createOutboxWrites({ run, rows }: Statements): Pick<WriteVerbs, "claimNotices"> {
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
  };
}
