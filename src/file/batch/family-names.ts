import { fillPlaceholders, type ParameterValues } from "../read/placeholders.js";
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
