import type { JobDraft, Unfilled } from "../fields/job-fields.js";
import { combine, MAX_JOBS, PARAMETER_NAME } from "../fields/job-parameters.js";
import { checkStepId } from "../fields/step-entries.js";
import { childPath } from "../read/path.js";
import { fillPlaceholders, type ParameterValues } from "../read/placeholders.js";
import type { ReadContext } from "../read/schema.js";
import { findEntry } from "../read/source-tree.js";
import { quote } from "../read/suggest.js";

/** The jobs that one entry of the list becomes: one for each combination of its parameters' values. */
export interface JobFamily {
  readonly draft: JobDraft;
  readonly name: Unfilled;
  readonly members: readonly JobMember[];
}

export interface JobMember {
  readonly id: string;
  readonly values: ParameterValues;
}

/** Null once a job's name or parameters are wrong: then nobody can say which jobs there are. */
export function buildFamilies(
  drafts: readonly JobDraft[],
  context: ReadContext,
): readonly JobFamily[] | null {
  const families: JobFamily[] = [];
  const taken = new Set<string>();
  let sound = true;
  for (const draft of drafts) {
    const family = buildFamily(draft, context);
    if (family !== null && takeNames(family, taken, context)) families.push(family);
    else sound = false;
    if (taken.size > MAX_JOBS) {
      const message = `the file makes more than ${MAX_JOBS} jobs`;
      const hint = "Give fewer values, or split the file.";
      context.findings.error({ code: "INVALID_VALUE", message, hint, at: draft.node.at, path: draft.path });
      return null;
    }
  }
  return sound ? families : null;
}

function buildFamily(draft: JobDraft, context: ReadContext): JobFamily | null {
  const { name, parameters, parameter_mode: mode = "product" } = draft.keys;
  const written = findEntry(draft.node, "parameters");
  const isUnreadable =
    written !== undefined &&
    (written.value.kind !== "map" ||
      written.value.entries.some(({ key }) => !PARAMETER_NAME.test(key) || !parameters?.has(key)));
  // What is wrong with the name or a parameter was reported already.
  if (name === undefined || isUnreadable) return null;
  const place = { at: written?.keyAt ?? draft.node.at, path: childPath(draft.path, "parameters") };
  const members: JobMember[] = [];
  for (const values of combine(parameters ?? new Map(), mode, place, context)) {
    const { text, problem } = fillPlaceholders(name.value, values);
    if (problem !== null) return reportUnfillable(problem, name, context);
    if (!checkStepId(text, name.at, name.path, context)) return null;
    members.push({ id: text, values });
  }
  return members.length === 0 ? null : { draft, name, members };
}

export function reportUnfillable(
  problem: string,
  place: Pick<Unfilled, "at" | "path">,
  context: ReadContext,
): null {
  const hint = "Formats are `{i}`, `{i:03d}` for whole numbers, `{x:.2f}` and `{x:.3e}` for numbers.";
  context.findings.error({ code: "INVALID_VALUE", message: problem, hint, at: place.at, path: place.path });
  return null;
}

/** One repeated name a family is told; the others have the same cause. */
function takeNames({ draft, name, members }: JobFamily, taken: Set<string>, context: ReadContext): boolean {
  for (const { id } of members) {
    if (!taken.has(id)) {
      taken.add(id);
      continue;
    }
    const message = `two jobs have the name ${quote(id)}`;
    const hint =
      draft.keys.parameters === undefined
        ? "Rename one of them."
        : "Put every parameter into the name, as in `train_{i}`.";
    context.findings.error({ code: "DUPLICATE_ID", message, hint, at: name.at, path: name.path });
    return false;
  }
  return true;
}
