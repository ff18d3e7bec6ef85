import { randomUUID } from "node:crypto";
import type { ChangeListeners } from "../change-listeners.js";
import { toJsonRows } from "../json-rows.js";
import type { BesideNotices, NoticeChange } from "../outbox-rows.js";
import type { SharedRow, SharedStore } from "../shared-rows.js";
import { toStorableText } from "../storable-text.js";
import { TABLES } from "../tables.js";
import { nameChange } from "./commit/commit-payload.js";
import { type Database, toArrayLiteral } from "./database.js";
import type { LeaseClock } from "./lease-verbs.js";

const NOW = "coalesce($1::bigint, floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint)";

const WRITE = `SELECT write_shared($1::text::json, $2::text::json, $3::text::json, $4, $5, $6::bigint) AS is_written`;

export function createSharedVerbs(
  db: Database,
  listeners: ChangeListeners,
  { sender, clock }: { readonly sender: string; readonly clock: LeaseClock },
): SharedStore {
  return {
    async readShared(kind, names, now) {
      const found = await db.rows<{ at: number; name: string | null; revision: number; data: string }>(
        `SELECT ${NOW} AS at, shared.name, shared.revision, shared.data FROM (SELECT 1) AS always
         LEFT JOIN shared ON shared.kind = $2 AND ($3::text[] IS NULL OR shared.name = ANY ($3::text[]))
         ORDER BY shared.name`,
        ...[clock === "caller" ? now : null, kind, names === null ? null : toArrayLiteral(names)],
      );
      const rows = found.flatMap(({ name, revision, data }): SharedRow[] =>
        name === null ? [] : [{ kind, name, revision, data }],
      );
      return { rows, at: found[0]?.at ?? now };
    },
    async writeShared(rows, beside) {
      const change = `${nameChange("shared", 0)}:${sender}`;
      const isWritten = await write(db, rows, { change, clock, ...(beside === undefined ? {} : { beside }) });
      if (isWritten && rows.length > 0) listeners.tell("shared", 0);
      return isWritten;
    },
    async dropShared(rows) {
      await db.rows(
        `DELETE FROM shared USING json_to_recordset($1::text::json) AS each (kind text, name text, revision bigint)
         WHERE shared.kind = each.kind AND shared.name = each.name AND shared.revision = each.revision`,
        JSON.stringify(rows),
      );
    },
  };
}

/** The stamp tells a call that is repeated that it was the one that wrote. */
function write(
  db: Database,
  rows: readonly SharedRow[],
  how: { readonly change: string; readonly clock: LeaseClock; readonly beside?: BesideNotices },
): Promise<boolean> {
  const stamp = randomUUID();
  const { now = 0, notices = [], settled = [] } = how.beside ?? {};
  const cells = [
    JSON.stringify(rows),
    toJsonRows(TABLES.outbox, notices),
    settled.length === 0 ? null : JSON.stringify(settled.map(storedChange)),
    ...[stamp, how.change, how.clock === "caller" ? now : null],
  ];
  return db.work(async (session, isRepeated) => {
    const [written] = await session.rows<{ is_written: boolean }>(WRITE, ...cells);
    if (written?.is_written === true || !isRepeated) return written?.is_written ?? false;
    const stamped = "SELECT 1 FROM shared WHERE stamp = $1 UNION ALL SELECT 1 FROM outbox WHERE stamp = $1";
    return (await session.rows(stamped, stamp)).length === rows.length + settled.length;
  });
}

function storedChange({ delayMs, told, error, ...change }: NoticeChange) {
  return {
    ...{ ...change, delay_ms: delayMs, told: told === null ? null : JSON.stringify(told) },
    error: error === null ? null : toStorableText(error),
  };
}
