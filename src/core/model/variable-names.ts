import { ERROR_FIELDS } from "./seen-error.js";

/**
 * What expressions, scripts and templates see of a run, each name with the fields that it has. Null where the names in it
 * are a matter of the file, or where anything may be in it.
 */
export const VARIABLES = {
  attempt: null,
  branches: null,
  env: null,
  error: ERROR_FIELDS,
  /**
   * For a step to which a failure led; scripts and functions also have `context`. All other steps only have `retry` and
   * `hint`.
   */
  failure: [...ERROR_FIELDS, "route", "edge", "round", "rounds", "output", "context", "retry", "hint"],
  foreach: ["key", "index", "total", "path"],
  inputs: null,
  loop: null,
  outputs: null,
  /** For undo and finally steps: how the run ends. */
  run: ["status", "error"],
  state: ["_last_error"],
  step: ["id", "tags", "group"],
  /** For an undo step: what it undoes. */
  undo: ["step", "output", "history"],
  visit: null,
} as const satisfies { readonly [name: string]: readonly string[] | null };

/** Names that a context usually brings; a file need not declare them. */
export const USUAL_CONTEXT_NAMES = ["pr", "files"] as const;
