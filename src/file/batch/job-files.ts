import type { FileDraft } from "../fields/file-fields.js";
import type { JobDraft, Unfilled } from "../fields/job-fields.js";
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
import { fillReferences, NamedItems, referencesIn } from "./named-items.js";

const FILES: FamilyKind = { items: "files", max: 400_000, sharesNames: false, checkName: () => true };
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

  /** The files of a job as keys of a step: paths instead of names. */
  of({ keys }: JobDraft, member: Member): StepKeys["files"] {
    const texts = [keys.invocation_script, keys.command];
    const [read, written] = [referencesIn(texts, "files", "input"), referencesIn(texts, "files", "output")];
    if (KEYS.every((key) => keys[key] === undefined) && read.length + written.length === 0) return undefined;
    return {
      inputs: this.items.of(named(keys.input_files, read), keys.input_file_regexes, member),
      outputs: this.items.of(named(keys.output_files, written), keys.output_file_regexes, member),
    };
  }

  /** Paths in the place of `${files.input.NAME}` and `${files.output.NAME}`; all those of a family. */
  fill(text: string, member: Member): string {
    return fillReferences(text, "files", (name) => this.items.valuesOf(name, member));
  }
}

const named = (listed: readonly Unfilled[] = [], referred: readonly Unfilled[]) => [...listed, ...referred];
