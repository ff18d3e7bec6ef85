import { DarumaError } from "../../core/errors/errors.js";
import type { RunReference } from "../../tell/lookup/run-reference.js";

/** A job as it is typed: `3 build`, `last visit@cities[1]`, or only its id. */
export interface JobPlace {
  readonly job_id: string;
  readonly run_id?: RunReference;
}

/** Parses a job. A separate scope becomes part of the name. */
export function jobPlace(words: readonly string[], scope?: string): JobPlace {
  const [first = "", name, ...more] = words;
  if (more.length > 0) throw badPlace(`too many words: ${words.join(" ")}`);
  if (name === undefined) {
    if (/^\d+$/.test(first)) return { job_id: first };
    if (parseRunReference(first) !== null) throw badPlace(`${first} is a run; name one of its steps too`);
    throw badPlace(`${first} is not a job id; name its run too`);
  }
  const run_id = parseRunReference(first);
  if (run_id === null) throw badPlace(`invalid run ${first}: use its number, or last`);
  return { run_id, job_id: withScope(name, scope) };
}

export function withScope(name: string, scope: string | undefined): string {
  return scope === undefined ? name : `${name}@${scope}`;
}

function badPlace(message: string): DarumaError {
  return new DarumaError("USAGE", message, {
    hint: "Name a run and a step, such as `last build` or `3 'visit@cities[1]'`, or a job by its id.",
  });
}

export { type RunReference, resolveRun } from "../../tell/lookup/run-reference.js";

/** Parses the number of a run, or `last`. Null if the text is neither. */
export function parseRunReference(text: string): RunReference | null {
  if (text === "last") return "last";
  const id = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(id) && id > 0 ? id : null;
}
