import type { Unfilled } from "../fields/job-fields.js";
import { fillPlaceholders, type ParameterValues } from "../read/placeholders.js";
import type { Findings } from "../read/problem.js";
import type { Located, ReadContext } from "../read/schema.js";
import { quote } from "../read/suggest.js";
import type { JobFamily, JobMember } from "./job-families.js";
import { NamePatterns } from "./name-patterns.js";

/** The jobs of all families by what their names have in common with the asking job. */
type Matches = ReadonlyMap<string, readonly string[]>;

/**
 * Finds the jobs that a `depends_on` of the batch form means: a job's own name, or the pattern of a family, of which
 * those members are meant whose values are the asking job's; all of them where the two share no parameter.
 */
export class JobDependencies {
  private readonly familiesOf = new Map<string, JobFamily[]>();
  /** All found so far, members of or-groups included. */
  count = 0;
  /** By pattern and shared parameters, so that many jobs that name one family cost one pass over it. */
  private readonly matches = new Map<string, Matches>();

  private readonly findings: Findings;
  private readonly patterns: NamePatterns;

  constructor(families: readonly JobFamily[], { findings, compilePattern }: ReadContext) {
    this.findings = findings;
    const names = families.flatMap(({ members }) => members.map(({ id }) => id));
    this.patterns = new NamePatterns(names, compilePattern);
    for (const family of families) {
      if (family.parameters.size === 0) continue;
      const pattern = family.name.value;
      const known = this.familiesOf.get(pattern);
      if (known === undefined) this.familiesOf.set(pattern, [family]);
      else known.push(family);
    }
  }

  /** In the form of the file: one text a group, `b|c` for either. */
  resolve(given: readonly Located<string>[], { values }: JobMember): Located<string>[] {
    return given.flatMap(({ value, at, path }) => {
      const parts = value.split("|").map((part) => part.trim());
      const found = parts.map((part) => this.find(part, values));
      for (const ids of found) this.count += ids.length;
      if (parts.length === 1) return found[0]!.map((id) => ({ value: id, at, path }));
      return [{ value: found.flat().join("|"), at, path }];
    });
  }

  /** Every other job whose name a regular expression is found in. */
  resolvePatterns(given: readonly Unfilled[], { id, values }: JobMember): Located<string>[] {
    return given.flatMap(({ value, at, path }) => {
      const matched = this.patterns.match(fillPlaceholders(value, values).text);
      if ("problem" in matched) {
        const message = `${quote(value)} is not a regular expression that can be used here: ${matched.problem}`;
        const hint = "Back references and lookaround are not supported.";
        this.findings.error({ code: "INVALID_VALUE", message, hint, at, path });
        return [];
      }
      const others = matched.filter((name) => name !== id);
      this.count += others.length;
      if (others.length === 0) {
        const message = `${quote(value)} is found in no other job's name`;
        const hint = "Correct the regular expression, or remove it.";
        this.findings.warn({ code: "NO_EFFECT", message, hint, at, path });
      }
      return others.map((name) => ({ value: name, at, path }));
    });
  }

  private find(name: string, own: ParameterValues): readonly string[] {
    const families = this.familiesOf.get(name);
    const itself = fillPlaceholders(name, own).text;
    if (families === undefined) return [itself];
    const shared = [...own.keys()].filter((parameter) =>
      families.some(({ parameters }) => parameters.has(parameter)),
    );
    const key = fillPlaceholders(name, only(own, shared)).text;
    return this.matchesOf(name, shared, families).get(key) ?? [itself];
  }

  private matchesOf(name: string, shared: readonly string[], families: readonly JobFamily[]): Matches {
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

function only(values: ParameterValues, names: readonly string[]): ParameterValues {
  const chosen = new Map();
  for (const name of names) if (values.has(name)) chosen.set(name, values.get(name)!);
  return chosen;
}
