import type { SharedRow } from "../shared-rows.js";
import { toStorableText } from "../storable-text.js";
import type { DraftRow, NewDraft } from "../store.js";
import type { Dialect } from "./dialect.js";
import { rows, type Verb } from "./query.js";
import { dataOf, findShared, writeShared } from "./shared.js";

const KIND = "draft";

export function* readDraft(_: Dialect, name: string): Verb<DraftRow | null> {
  const [row] = yield* findShared(KIND, "AND name = $2", name);
  return row === undefined ? null : draftOf(row);
}

export function* listDrafts(): Verb<DraftRow[]> {
  return (yield* findShared(KIND, "ORDER BY name")).map(draftOf);
}

export function* saveDraft(
  dialect: Dialect,
  { name, source, basedOn, at }: NewDraft,
): Verb<{ saved: true; draft: DraftRow } | { saved: false; draft: DraftRow | null }> {
  const present = yield* readDraft(dialect, name);
  const revision = present?.revision ?? 0;
  if (basedOn !== null && basedOn !== revision) return { saved: false, draft: present };
  const kept = { source: toStorableText(source), updated_at: at };
  yield* writeShared(dialect, [{ kind: KIND, name, revision, data: JSON.stringify(kept) }]);
  return { saved: true, draft: { name, revision: revision + 1, ...kept } };
}

export function* deleteDraft(_: Dialect, name: string): Verb<void> {
  yield* rows("DELETE FROM shared WHERE kind = $1 AND name = $2", KIND, name);
}

function draftOf(row: SharedRow): DraftRow {
  const { name, revision } = row;
  return { name, revision, ...(dataOf(row) as Pick<DraftRow, "source" | "updated_at">) };
}
