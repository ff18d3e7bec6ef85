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

/** One thing worth a line while a run goes on. */
export interface Note {
  readonly kind: NoteKind;
  readonly at: number;
  readonly text: string;
  /** For a failure that is described for the first time. */
  readonly printed?: Printed;
}

/** The lines that tell what broke, and the name of the step that printed them. */
export interface Printed {
  readonly name: string;
  readonly lines: readonly string[];
}

/** A note whose time its event knows. */
export interface NewNote {
  readonly kind: NoteKind;
  readonly text: string;
  /** The text names the run itself, so that it need not be said whose line it is. */
  readonly namesRun?: true;
  readonly printed?: Printed;
}

export function note(kind: NoteKind, text: string): NewNote {
  return { kind, text };
}

/** A note about the run as a whole, which begins with the run's number. */
export function runNote(kind: NoteKind, run: { readonly id: number }, text: string): NewNote {
  return { kind, text: `run ${run.id} ${text}`, namesRun: true };
}
