import type { FileDraft } from "../fields/file-fields.js";
import type { JobDraft, Unfilled } from "../fields/job-fields.js";
import type { StepKeys } from "../fields/read-step.js";
import { fillPlaceholders } from "../read/placeholders.js";
import type { Located, ReadContext } from "../read/schema.js";
import { didYouMean, quote } from "../read/suggest.js";
import {
  buildFamilies,
  type FamilyKind,
  type Member,
  type ParameterLists,
  reportUnfillable,
} from "./families.js";
import { FamilyNames } from "./family-names.js";
import { NamePatterns } from "./name-patterns.js";

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
  return new JobFiles(paths, new FamilyNames(families), context);
}

export class JobFiles {
  private readonly patterns: NamePatterns;

  constructor(
    private readonly paths: ReadonlyMap<string, string>,
    private readonly names: FamilyNames,
    private readonly context: ReadContext,
  ) {
    this.patterns = new NamePatterns([...paths.keys()], context.compilePattern);
  }

  /** In the words of a step: paths instead of names. */
  of({ keys }: JobDraft, member: Member): StepKeys["files"] {
    if (KEYS.every((key) => keys[key] === undefined)) return undefined;
    const { input_files, input_file_regexes, output_files, output_file_regexes } = keys;
    return {
      inputs: [...this.named(input_files, member), ...this.matching(input_file_regexes, member)],
      outputs: [...this.named(output_files, member), ...this.matching(output_file_regexes, member)],
    };
  }

  private named(given: readonly Unfilled[] = [], { values }: Member): Located<string>[] {
    return given.flatMap(({ value, at, path }) =>
      this.names.find(value, values).flatMap((name) => {
        const found = this.paths.get(name);
        if (found !== undefined) return [{ value: found, at, path }];
        const { findings } = this.context;
        const suggestion = didYouMean(findings.suggester.nearest(name, [...this.paths.keys()]));
        const message = `there is no file ${quote(name)} in the list \`files\`${suggestion}`;
        const hint = "Fix the name, or add the file to the list.";
        findings.error({ code: "INVALID_VALUE", message, hint, at, path });
        return [];
      }),
    );
  }

  private matching(given: readonly Unfilled[] = [], { values }: Member): Located<string>[] {
    return given.flatMap((pattern) => {
      const { at, path } = pattern;
      return this.patterns
        .found(pattern, values, "file", this.context.findings)
        .map((name) => ({ value: this.paths.get(name)!, at, path }));
    });
  }
}
