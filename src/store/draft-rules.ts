import { toStorableText } from "./storable-text.js";
import type { DraftRow, NewDraft } from "./store.js";

/** The row that a save leaves behind; null: it is based on a revision that is no longer the present one. */
export function nextDraft(
  present: DraftRow | null,
  { name, source, basedOn, at }: NewDraft,
): DraftRow | null {
  const revision = present?.revision ?? 0;
  if (basedOn !== null && basedOn !== revision) return null;
  return { name, source: toStorableText(source), revision: revision + 1, updated_at: at };
}
