import type { Unfilled } from "../fields/job-fields.js";
import type { Located, ReadContext } from "../read/schema.js";
import { didYouMean, quote } from "../read/suggest.js";
import type { Family, Member } from "./families.js";
import { FamilyNames, NamePatterns } from "./job-dependencies.js";

/** What one item of a list of the file is called, and the key of the list. */
interface ItemWords {
  readonly what: "file" | "user data";
  readonly list: string;
}

/** The items of a list of the file, as jobs refer to them: by name, by the pattern of a family, by regular expressions. */
export class NamedItems {
  private readonly names: FamilyNames;
  private readonly patterns: NamePatterns;

  constructor(
    families: readonly Family[],
    /** What replaces an item in a step, by its name. */
    private readonly values: ReadonlyMap<string, string>,
    private readonly words: ItemWords,
    private readonly context: ReadContext,
  ) {
    this.names = new FamilyNames(families);
    this.patterns = new NamePatterns([...values.keys()], context.compilePattern);
  }

  of(
    given: readonly Unfilled[] | undefined,
    regexes: readonly Unfilled[] | undefined,
    member: Member,
  ): readonly Located<string>[] {
    return [...this.named(given, member), ...this.matching(regexes, member)];
  }

  /** What stands in the place of a name; nothing for a name that is not there. */
  valuesOf(name: string, member: Member): readonly string[] {
    return this.names.findFor(name, member).flatMap((found) => this.values.get(found) ?? []);
  }

  private named(given: readonly Unfilled[] = [], member: Member): Located<string>[] {
    const { what, list } = this.words;
    return given.flatMap(({ value, at, path }) =>
      this.names.findFor(value, member).flatMap((name) => {
        const found = this.values.get(name);
        if (found !== undefined) return [{ value: found, at, path }];
        const { findings } = this.context;
        const suggestion = didYouMean(findings.suggester.nearest(name, [...this.values.keys()]));
        const message = `there is no ${what} ${quote(name)} in the list \`${list}\`${suggestion}`;
        const hint = `Fix the name, or add the ${what} to the list.`;
        findings.error({ code: "INVALID_VALUE", message, hint, at, path });
        return [];
      }),
    );
  }

  private matching(given: readonly Unfilled[] = [], { values }: Member): Located<string>[] {
    return given.flatMap((pattern) => {
      const { at, path } = pattern;
      return this.patterns
        .found(pattern, values, this.words.what, this.context.findings)
        .map((name) => ({ value: this.values.get(name)!, at, path }));
    });
  }
}

type List = "files" | "user_data";
type Direction = "input" | "output";

/** `${files.input.raw}` or, with placeholders, `${files.output.part_{i}}`; no shell has such variables. */
const REFERENCE = /\$\{(files|user_data)\.(input|output)\.((?:[^{}]|\{[^{}]*\})+)\}/g;

/** What looks like a reference and is none. */
const MISTAKE = /\$\{(?:files|user_data)\.(?!(?:input|output)\.[^}])[^}]*\}?/;

/** Tells what the shell would only call a bad substitution. */
export function checkReferences(texts: readonly (Unfilled | undefined)[], { findings }: ReadContext): void {
  for (const text of texts) {
    const mistake = text && MISTAKE.exec(text.value);
    if (!mistake) continue;
    const message = `${quote(mistake[0])} does not name a file`;
    const hint =
      "Write `files.input.NAME` or `files.output.NAME` in the braces, with a name of the list `files`.";
    findings.error({ code: "INVALID_VALUE", message, hint, at: text.at, path: text.path });
  }
}

/** The names that the texts of a job refer to, each at the place of its text. */
export function referencesIn(
  texts: readonly (Unfilled | undefined)[],
  list: List,
  direction: Direction,
): readonly Unfilled[] {
  return texts.flatMap((text) => {
    // Nearly all of 100,000 jobs have none.
    if (text === undefined || !text.value.includes(`\${${list}.`)) return [];
    return [...text.value.matchAll(REFERENCE)].flatMap(([, found, where, name]) =>
      found === list && where === direction ? [{ ...text, value: name! }] : [],
    );
  });
}

/** The text with what each reference stands for; one that stands for nothing stays, and was reported. */
export function fillReferences(
  text: string,
  list: List,
  valuesOf: (name: string) => readonly string[],
): string {
  if (!text.includes(`\${${list}.`)) return text;
  return text.replace(REFERENCE, (whole, found: List, _direction, name: string) => {
    const values = found === list ? valuesOf(name) : [];
    return values.length === 0 ? whole : values.join(" ");
  });
}
