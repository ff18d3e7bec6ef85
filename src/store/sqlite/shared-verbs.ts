import type { ChangeListeners } from "../change-listeners.js";
import type { SharedRow, SharedStore } from "../shared-rows.js";
import type { ReadVerbs, WriteVerbs } from "./protocol.js";
import type { Statements } from "./statements.js";
import type { ThreadClient } from "./thread-client.js";

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

export function createSharedWrites({ run, row }: Statements): Pick<WriteVerbs, "writeShared"> {
  return {
    writeShared: (given) => {
      for (const { kind, name, revision } of given) {
        const sql = "SELECT revision FROM shared WHERE kind = ? AND name = ?";
        if ((row<readonly [number]>(sql, kind, name)?.[0] ?? 0) !== revision) return false;
      }
      for (const { kind, name, revision, data } of given)
        run(
          "INSERT OR REPLACE INTO shared (kind, name, revision, data) VALUES (?, ?, ?, ?)",
          ...[kind, name, revision + 1, data],
        );
      return true;
    },
  };
}

export function createSharedVerbs(thread: ThreadClient, listeners: ChangeListeners): SharedStore {
  return {
    readShared: async (kind, names, now) => ({ rows: await thread.call("readShared", kind, names), at: now }),
    async writeShared(rows) {
      const isWritten = await thread.call("writeShared", rows);
      if (isWritten) listeners.tell("shared", 0);
      return isWritten;
    },
  };
}
