import type { ChangeListeners } from "../change-listeners.js";
import type { SharedRow, SharedStore } from "../shared-rows.js";
import { maySettle, writeBeside } from "./memory-outbox.js";
import type { OpenTables } from "./memory-tables.js";

export function createSharedVerbs(open: OpenTables, listeners: ChangeListeners): SharedStore {
  return {
    async readShared(kind, names, now) {
      const wanted = names === null ? null : new Set(names);
      const rows = [...open().shared.values()].filter(
        (row) => row.kind === kind && (wanted === null || wanted.has(row.name)),
      );
      return { rows: rows.sort((a, b) => (a.name < b.name ? -1 : 1)), at: now };
    },
    async writeShared(rows, beside) {
      const tables = open();
      const { shared } = tables;
      if (rows.some((row) => (shared.get(keyOf(row))?.revision ?? 0) !== row.revision)) return false;
      if (beside !== undefined && !maySettle(tables, beside)) return false;
      for (const row of rows) shared.set(keyOf(row), { ...row, revision: row.revision + 1 });
      if (beside !== undefined) writeBeside(tables, beside);
      if (rows.length > 0) listeners.tell("shared", 0);
      return true;
    },
    async dropShared(rows) {
      const { shared } = open();
      for (const row of rows)
        if (shared.get(keyOf(row))?.revision === row.revision) shared.delete(keyOf(row));
    },
  };
}

function keyOf({ kind, name }: Pick<SharedRow, "kind" | "name">): string {
  return JSON.stringify([kind, name]);
}
