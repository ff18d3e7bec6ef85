import type { FileDraft } from "../fields/file-fields.js";
import type { JobDraft } from "../fields/job-fields.js";
import type { StepKeys } from "../fields/read-step.js";
import { fillPlaceholders } from "../read/placeholders.js";
import type { ReadContext } from "../read/schema.js";
import {
  buildFamilies,
  type FamilyKind,
  type Member,
  type ParameterLists,
  reportUnfillable,
} from "./families.js";
import { NamedItems } from "./named-items.js";

const FILES: FamilyKind = { items: "files", max: 400_000, checkName: () => true };
const KEYS = ["input_files", "output_files", "input_file_regexes", "output_file_regexes"] as const;

/** The files that jobs name, as paths; null where it is open which files there are, which was reported. */
export function buildJobFiles(
  drafts: readonly FileDraft[],
  shared: ParameterLists | undefined,
  context: ReadContext,
): JobFiles | null {
  const families = buildFamilies(drafts, FILES, shared, context);
  if (families === null) return null;
  const paths = new Map<string, string>();
  for (const { draft, members } of families) {
    const { path } = draft.keys;
    if (path === undefined) return null;
    for (const { id, values } of members) {
      const { text, problem } = fillPlaceholders(path.value, values);
      if (problem !== null) return reportUnfillable(problem, path, context);
      paths.set(id, text);
    }
  }
  return new JobFiles(new NamedItems(families, paths, { what: "file", list: "files" }, context));
}

export class JobFiles {
  constructor(private readonly items: NamedItems) {}

  /** In the words of a step: paths instead of names. */
  of({ keys }: JobDraft, member: Member): StepKeys["files"] {
    if (KEYS.every((key) => keys[key] === undefined)) return undefined;
    return {
      inputs: this.items.of(keys.input_files, keys.input_file_regexes, member),
      outputs: this.items.of(keys.output_files, keys.output_file_regexes, member),
    };
  }
}
