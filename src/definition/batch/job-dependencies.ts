import { fillPlaceholders, type ParameterValues } from "../read/placeholders.js";
import type { Located } from "../read/schema.js";
import type { JobFamily, JobMember } from "./job-families.js";

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

  constructor(families: readonly JobFamily[]) {
    for (const family of families) {
      if (family.draft.keys.parameters === undefined) continue;
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

  private find(name: string, own: ParameterValues): readonly string[] {
    const families = this.familiesOf.get(name);
    const itself = fillPlaceholders(name, own).text;
    if (families === undefined) return [itself];
    const shared = [...own.keys()].filter((parameter) =>
      families.some(({ draft }) => draft.keys.parameters?.has(parameter)),
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
