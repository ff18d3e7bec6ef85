import { nextDraft } from "../draft-rules.js";
import type { DraftRow, NewDraft } from "../store.js";
import { COLUMNS } from "../tables.js";
import { type Dialect, row, rows, type Verb } from "./query.js";

export function* readDraft(_: Dialect, name: string): Verb<DraftRow | null> {
  return yield* row<DraftRow>(`SELECT ${COLUMNS.draft} FROM draft WHERE name = $1`, name);
}

export function* listDrafts(): Verb<DraftRow[]> {
  return [...(yield* rows<DraftRow>(`SELECT ${COLUMNS.draft} FROM draft ORDER BY name`))];
}

export function* saveDraft(
  dialect: Dialect,
  draft: NewDraft,
): Verb<{ saved: true; draft: DraftRow } | { saved: false; draft: DraftRow | null }> {
  const present = yield* readDraft(dialect, draft.name);
  const next = nextDraft(present, draft);
  if (next === null) return { saved: false, draft: present };
  yield* rows(
    `INSERT INTO draft (${COLUMNS.draft}) VALUES ($1, $2, $3, $4)
     ON CONFLICT (name) DO UPDATE SET source = excluded.source, revision = excluded.revision, updated_at = excluded.updated_at`,
    ...[next.name, next.source, next.revision, next.updated_at],
  );
  return { saved: true, draft: next };
}

export function* deleteDraft(_: Dialect, name: string): Verb<void> {
  yield* rows("DELETE FROM draft WHERE name = $1", name);
}
