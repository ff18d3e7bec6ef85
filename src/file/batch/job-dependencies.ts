import type { Unfilled } from "../fields/job-fields.js";
import type { ParameterValues } from "../read/placeholders.js";
import type { Findings } from "../read/problem.js";
import type { Located, ReadContext } from "../read/schema.js";
import { didYouMean, quote } from "../read/suggest.js";
import type { Family, Member } from "./families.js";
import { FamilyNames } from "./family-names.js";
import { NamePatterns } from "./name-patterns.js";

/** Finds the jobs that a `depends_on` of the batch form means. */
export class JobDependencies {
  /** All found so far, members of or-groups included. */
  count = 0;
  private readonly findings: Findings;
  private readonly names: FamilyNames;
  private readonly patterns: NamePatterns;
  private readonly ids: ReadonlySet<string>;

  constructor(families: readonly Family[], { findings, compilePattern }: ReadContext) {
    this.findings = findings;
    const names = families.flatMap(({ members }) => members.map(({ id }) => id));
    this.ids = new Set(names);
    this.patterns = new NamePatterns(names, compilePattern);
    this.names = new FamilyNames(families);
  }

  /** Resolves dependencies to the form of the file: one text per group, `b|c` for alternatives. */
  resolve(given: readonly Located<string>[], member: Member): Located<string>[] {
    return given.flatMap(({ value, at, path }) => {
      const parts = value.split("|").map((part) => part.trim());
      const found = parts.map((part) => this.names.findFor(part, member));
      for (const ids of found) this.count += ids.length;
      if (parts.length === 1) return found[0]!.map((id) => ({ value: id, at, path }));
      return [{ value: found.flat().join("|"), at, path }];
    });
  }

  /** Every other job whose name a regular expression is found in. */
  resolvePatterns(given: readonly Unfilled[], { id, values }: Member): Located<string>[] {
    return given.flatMap((pattern) => {
      const { at, path } = pattern;
      const others = this.patterns.found(pattern, values, "job", this.findings, id);
      this.count += others.length;
      return others.map((name) => ({ value: name, at, path }));
    });
  }

  /** The jobs that somebody else names, by name, by family or by regular expression; each once. */
  select(names: readonly Unfilled[], patterns: readonly Unfilled[]): readonly string[] {
    const none: ParameterValues = new Map();
    const found = [
      ...names.flatMap((name) => this.names.find(name.value, none).filter((id) => this.isKnown(id, name))),
      ...patterns.flatMap((pattern) => this.patterns.found(pattern, none, "job", this.findings)),
    ];
    return [...new Set(found)];
  }

  private isKnown(id: string, { at, path }: Unfilled): boolean {
    if (this.ids.has(id)) return true;
    const { findings } = this;
    const suggestion = didYouMean(findings.suggester.nearest(id, [...this.ids]));
    const message = `there is no job ${quote(id)}${suggestion}`;
    findings.error({ code: "UNKNOWN_STEP", message, hint: "Fix the name, or add the job.", at, path });
    return false;
  }
}
