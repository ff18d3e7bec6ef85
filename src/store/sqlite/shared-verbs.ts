import type { ChangeListeners } from "../change-listeners.js";
import type { SharedRow, SharedStore } from "../shared-rows.js";
import type { Caller } from "./caller.js";
import { packBeside, settle } from "./outbox-verbs.js";
import type { ReadVerbs, WriteVerbs } from "./protocol.js";
import type { Database } from "./sqlite-driver.js";
import type { Statements } from "./statements.js";

type Row = readonly [kind: string, name: string, revision: number, data: string];

export function createSharedReads({ rows }: Statements): Pick<ReadVerbs, "readShared"> {
  return {
    readShared: (kind, names) =>
      rows<Row>(
        `SELECT kind, name, revision, data FROM shared
         WHERE kind = ?1 AND (?2 IS NULL OR name IN (SELECT value FROM json_each(?2))) ORDER BY name`,
        kind,
        names === null ? null : JSON.stringify(names),
      ).map(([, name, revision, data]): SharedRow => ({ kind, name, revision, data })),
  };
}

type SharedWrite = "writeShared" | "dropShared";

export function createSharedWrites(statements: Statements, db: Database): Pick<WriteVerbs, SharedWrite> {
  const { run, row } = statements;
  return {
    writeShared: (given, beside) => {
      for (const { kind, name, revision } of given) {
        const sql = "SELECT revision FROM shared WHERE kind = ? AND name = ?";
        if ((row<readonly [number]>(sql, kind, name)?.[0] ?? 0) !== revision) return false;
      }
      if (beside !== null && !settle(statements, db, beside)) return false;
      for (const { kind, name, revision, data } of given)
        run(
          "INSERT OR REPLACE INTO shared (kind, name, revision, data) VALUES (?, ?, ?, ?)",
          ...[kind, name, revision + 1, data],
        );
      return true;
    },
    dropShared: (given) => {
      for (const { kind, name, revision } of given)
        run("DELETE FROM shared WHERE kind = ? AND name = ? AND revision = ?", kind, name, revision);
      return null;
    },
  };
}

export function createSharedVerbs(thread: Caller, listeners: ChangeListeners): SharedStore {
  return {
    readShared: async (kind, names, now) => ({ rows: await thread.call("readShared", kind, names), at: now }),
    async writeShared(rows, beside) {
      const isWritten = await thread.call(
        "writeShared",
        rows,
        beside === undefined ? null : packBeside(beside),
      );
      if (isWritten && rows.length > 0) listeners.tell("shared", 0);
      return isWritten;
    },
    async dropShared(rows) {
      await thread.call("dropShared", rows);
    },
  };
}
