import type { Unfilled } from "../fields/job-fields.js";
import type { Path } from "../read/path.js";
import { fillPlaceholders, type ParameterValues } from "../read/placeholders.js";
import type { Findings } from "../read/problem.js";
import type { Located, ReadContext } from "../read/schema.js";
import { didYouMean, quote } from "../read/suggest.js";
import { combinationsOf, type Family, type Member, only } from "./families.js";

/** The members of families by what their names have in common with who asks. */
type Matches = ReadonlyMap<string, readonly string[]>;

/**
 * Finds what a name of the batch form means: a member's own name, or the pattern of a family, of which those members are
 * meant whose values are those of who asks; all of them where the two share no parameter.
 */
export class FamilyNames {
  private readonly familiesOf = new Map<string, Family[]>();
  /** Cached by pattern and shared parameters, so that many references to one family cost one pass over it. */
  private readonly matches = new Map<string, Matches>();

  constructor(families: readonly Family[]) {
    for (const family of families) {
      if (family.parameters.size === 0) continue;
      const pattern = family.name.value;
      const known = this.familiesOf.get(pattern);
      if (known === undefined) this.familiesOf.set(pattern, [family]);
      else known.push(family);
    }
  }

  /** Finds names for a member, by all of its parameters, each once. */
  findFor(name: string, member: Member): readonly string[] {
    const combinations = combinationsOf(member);
    if (combinations.length === 1) return this.find(name, combinations[0]!);
    return [...new Set(combinations.flatMap((values) => this.find(name, values)))];
  }

  find(name: string, own: ParameterValues): readonly string[] {
    const families = this.familiesOf.get(name);
    const itself = fillPlaceholders(name, own).text;
    if (families === undefined) return [itself];
    const shared = [...own.keys()].filter((parameter) =>
      families.some(({ parameters }) => parameters.has(parameter)),
    );
    const key = fillPlaceholders(name, only(own, shared)).text;
    return this.matchesOf(name, shared, families).get(key) ?? [itself];
  }

  private matchesOf(name: string, shared: readonly string[], families: readonly Family[]): Matches {
    const key = `${name}\n${shared.join("\n")}`;
    const known = this.matches.get(key);
    if (known !== undefined) return known;
    const found = new Map<string, string[]>();
    for (const { members } of families) {
      for (const { id, values } of members) {
        const common = fillPlaceholders(name, only(values, shared)).text;
        const same = found.get(common);
        if (same === undefined) found.set(common, [id]);
        else same.push(id);
      }
    }
    this.matches.set(key, found);
    return found;
  }
}

const OWNER = { job: "job's", file: "file's", "user data": "user data's" };

/** Regular expressions over names, unanchored. */
export class NamePatterns {
  private readonly known = new Map<string, readonly string[]>();

  constructor(
    private readonly names: readonly string[],
    private readonly compile: ReadContext["compilePattern"],
  ) {}

  /** The names that it is found in, in their order, but for `asking`; says so where it is wrong or found in none. */
  found(
    { value, at, path }: Unfilled,
    values: ParameterValues,
    what: "job" | "file" | "user data",
    findings: Findings,
    asking: string | null = null,
  ): readonly string[] {
    const matched = this.match(fillPlaceholders(value, values).text);
    if ("problem" in matched) {
      const message = `${quote(value)} is not a regular expression that can be used here: ${matched.problem}`;
      const hint = "Back references and lookaround are not supported.";
      findings.error({ code: "INVALID_VALUE", message, hint, at, path });
      return [];
    }
    const others = asking === null ? matched : matched.filter((name) => name !== asking);
    if (others.length === 0) {
      const message = `${quote(value)} is found in no ${asking === null ? "" : "other "}${OWNER[what]} name`;
      const hint = "Correct the regular expression, or remove it.";
      findings.warn({ code: "NO_EFFECT", message, hint, at, path });
    }
    return others;
  }

  /** A pattern that many jobs have is looked up once. */
  private match(pattern: string): readonly string[] | { readonly problem: string } {
    const known = this.known.get(pattern);
    if (known !== undefined) return known;
    const test = this.compile(pattern);
    if (typeof test !== "function") return { problem: test.message };
    const matching = this.names.filter(test);
    this.known.set(pattern, matching);
    return matching;
  }
}

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

/** Dependencies of all jobs together: two large families that share no parameter would need their product. */
export const MAX_DEPENDENCIES = 1_000_000;

export function reportTooManyDependencies(
  at: number,
  path: Path | null,
  { findings }: Pick<ReadContext, "findings">,
): null {
  const message = `the jobs of the file have more than ${MAX_DEPENDENCIES} dependencies`;
  const hint =
    "Put one job between the two groups: it depends on every job of the first, and every job of the second depends on it.";
  findings.error({ code: "INVALID_VALUE", message, hint, at, path });
  return null;
}
