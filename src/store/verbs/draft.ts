import { toStorableText } from "../storable-text.js";
import type { DraftRow, NewDraft } from "../store.js";
import { TABLES } from "../tables.js";
import type { Dialect } from "./dialect.js";
import { put, rowOf, rows, rowsOf, type Verb } from "./query.js";

export function* readDraft(_: Dialect, name: string): Verb<DraftRow | null> {
  return yield* rowOf(TABLES.draft, "WHERE name = $1", name);
}

export function* listDrafts(): Verb<DraftRow[]> {
  return yield* rowsOf(TABLES.draft, "ORDER BY name");
}

export function* saveDraft(
  dialect: Dialect,
  { name, source, basedOn, at }: NewDraft,
): Verb<{ saved: true; draft: DraftRow } | { saved: false; draft: DraftRow | null }> {
  const present = yield* readDraft(dialect, name);
  const revision = present?.revision ?? 0;
  if (basedOn !== null && basedOn !== revision) return { saved: false, draft: present };
  const draft = { name, source: toStorableText(source), revision: revision + 1, updated_at: at };
  yield* put(dialect, TABLES.draft, [draft]);
  return { saved: true, draft };
}

export function* deleteDraft(_: Dialect, name: string): Verb<void> {
  yield* rows("DELETE FROM draft WHERE name = $1", name);
}
