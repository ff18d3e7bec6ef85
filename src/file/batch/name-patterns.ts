import type { Unfilled } from "../fields/job-fields.js";
import { fillPlaceholders, type ParameterValues } from "../read/placeholders.js";
import type { Findings } from "../read/problem.js";
import type { ReadContext } from "../read/schema.js";
import { quote } from "../read/suggest.js";

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
