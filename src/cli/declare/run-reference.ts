import type { RunReference } from "../../tell/lookup/run-reference.js";

export { type RunReference, resolveRun } from "../../tell/lookup/run-reference.js";

/** Parses the number of a run, or `last`. Null if the text is neither. */
export function parseRunReference(text: string): RunReference | null {
  if (text === "last") return "last";
  const id = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(id) && id > 0 ? id : null;
}
