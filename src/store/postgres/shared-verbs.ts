import { randomUUID } from "node:crypto";
import type { ChangeListeners } from "../change-listeners.js";
import type { SharedRow, SharedStore } from "../shared-rows.js";
import { nameChange } from "./commit-payload.js";
import { type Database, toArrayLiteral } from "./database.js";
import type { LeaseClock } from "./lease-verbs.js";

const NOW = "coalesce($1::bigint, floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint)";

/**
 * One statement, so all of it or nothing: rows that are there are locked before their revisions are compared. The stamp
 * tells a call that is repeated that it was the one that wrote.
 */
const WRITE = `
  WITH given AS MATERIALIZED (
    SELECT kind, name, revision, data FROM json_to_recordset($1::text::json)
      AS each (kind text, name text, revision bigint, data text)),
  locked AS MATERIALIZED (
    SELECT shared.kind, shared.name, shared.revision FROM shared
      WHERE (shared.kind, shared.name) IN (SELECT given.kind, given.name FROM given)
      ORDER BY shared.kind, shared.name FOR UPDATE),
  stale AS (
    SELECT FROM given LEFT JOIN locked USING (kind, name) WHERE coalesce(locked.revision, 0) <> given.revision),
  written AS (
    INSERT INTO shared (kind, name, revision, data, stamp)
      SELECT kind, name, revision + 1, data, $2 FROM given WHERE NOT EXISTS (SELECT FROM stale)
      ON CONFLICT (kind, name) DO UPDATE SET revision = excluded.revision, data = excluded.data, stamp = excluded.stamp
      WHERE shared.revision = excluded.revision - 1
      RETURNING name)
  SELECT pg_notify(current_schema(), $3) FROM written LIMIT 1`;

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
    async writeShared(rows) {
      const isWritten = await write(db, rows, `${nameChange("shared", 0)}:${sender}`);
      if (isWritten) listeners.tell("shared", 0);
      return isWritten;
    },
  };
}

function write(db: Database, rows: readonly SharedRow[], change: string): Promise<boolean> {
  const stamp = randomUUID();
  return db.work(async (session, isRepeated) => {
    const written = await session.rows(WRITE, JSON.stringify(rows), stamp, change);
    if (written.length === 1 || !isRepeated) return written.length === 1;
    return (await session.rows("SELECT 1 FROM shared WHERE stamp = $1", stamp)).length === rows.length;
  });
}

export const SHARED = `
  CREATE TABLE shared (
    kind text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL, revision bigint NOT NULL, data text NOT NULL,
    stamp text, PRIMARY KEY (kind, name));`;
