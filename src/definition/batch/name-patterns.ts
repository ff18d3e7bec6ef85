import type { ReadContext } from "../read/schema.js";

/** Regular expressions over names, unanchored. */
export class NamePatterns {
  private readonly found = new Map<string, readonly string[]>();

  constructor(
    private readonly names: readonly string[],
    private readonly compile: ReadContext["compilePattern"],
  ) {}

  /** The names that match, in their order; a pattern that many jobs have is looked up once. */
  match(pattern: string): readonly string[] | { readonly problem: string } {
    const known = this.found.get(pattern);
    if (known !== undefined) return known;
    const test = this.compile(pattern);
    if (typeof test !== "function") return { problem: test.message };
    const matching = this.names.filter(test);
    this.found.set(pattern, matching);
    return matching;
  }
}
