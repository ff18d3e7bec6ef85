import { USUAL_CONTEXT_NAMES, VARIABLES } from "../../../core/model/variable-names.js";
import type { NameFinder } from "../../read/names-in-text.js";
import type { PlacedText } from "../../read/placed-text.js";

export type Language = PlacedText["language"];
type Names = { has(name: string): boolean; keys(): Iterable<string> };

/** What the file itself brings. */
export interface FileNames {
  readonly steps: Names;
  readonly inputs: Names;
  /** Inputs that are numbers or booleans. */
  readonly plainInputs: ReadonlySet<string>;
  /** Variables of the workflow and all its steps, without secrets. */
  readonly env: Names;
  /** Names that the file says a context gives. */
  readonly context: Names;
}

/** Members that every value has. */
const MEMBERS_OF_ALL: { readonly [language in Language]: ReadonlySet<string> } = {
  expression: new Set(Object.getOwnPropertyNames(Object.prototype)),
  template: new Set(["size"]),
};
const FIELDS = new Map<string, Names>(
  Object.entries(VARIABLES).flatMap(([name, fields]) =>
    fields === null ? [] : [[name, new Set<string>(fields)]],
  ),
);

/** The names that expressions and templates may use, and the members of those whose members are known. */
export class KnownNames {
  readonly #ofRun: ReadonlySet<string>;

  constructor(
    readonly file: FileNames,
    private readonly globals: NameFinder["globals"],
  ) {
    this.#ofRun = new Set([...Object.keys(VARIABLES), ...USUAL_CONTEXT_NAMES, ...file.context.keys()]);
  }

  has(name: string, language: Language): boolean {
    return this.#ofRun.has(name) || (language === "expression" && this.globals.has(name));
  }

  /** Sorted, without what the language has itself. */
  ofRun(): string[] {
    return [...this.#ofRun].sort();
  }

  all(language: Language): string[] {
    return language === "expression" ? [...this.#ofRun, ...this.globals.keys()] : [...this.#ofRun];
  }

  /** The only members of a name; null where there may be any. */
  membersOf(name: string, language: Language): Names | null {
    if (name === "inputs" || name === "env") return this.file[name];
    if (this.#ofRun.has(name) || language === "template") return FIELDS.get(name) ?? null;
    const members = this.globals.get(name) ?? null;
    return members === null ? null : new Set(members);
  }
}

export function isMemberOfAll(name: string, language: Language): boolean {
  return MEMBERS_OF_ALL[language].has(name);
}
