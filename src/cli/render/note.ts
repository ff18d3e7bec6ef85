export type NoteKind =
  | "run"
  | "started"
  | "completed"
  | "recovered"
  | "failed"
  | "route"
  | "held"
  | "question"
  | "operator"
  | "skipped"
  | "canceled";

/** One thing worth a line. */
export interface Note {
  readonly kind: NoteKind;
  readonly at: number;
  readonly text: string;
}

/** A note whose time its event knows. */
export type NewNote = Omit<Note, "at">;
