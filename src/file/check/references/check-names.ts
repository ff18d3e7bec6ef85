import { USUAL_CONTEXT_NAMES, VARIABLES } from "../../../core/model/variable-names.js";
import { rename } from "../../read/fix.js";
import {
  type NameFinder,
  type NamePart,
  type NameRead,
  type PlacedText,
  placeInText,
  type TextWithNames,
} from "../../read/placed-text.js";
import type { Findings, Report } from "../../read/problem.js";
import { didYouMean, quote } from "../../read/suggest.js";

type Language = PlacedText["language"];
type Names = { has(name: string): boolean; keys(): Iterable<string> };

/** What the file itself brings. */
interface FileNames {
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

function isMemberOfAll(name: string, language: Language): boolean {
  return MEMBERS_OF_ALL[language].has(name);
}

/** Limit for the problems reported in one text, which may be wrong throughout. */
const MAX_PROBLEMS_IN_ONE_TEXT = 20;
const HISTORY = "history";
const WORD = /[\w$-]/;
/** What follows a name for which a value is ready: `outputs?.overview ?? ''`. A mere condition may be a slip. */
const NULL_SAFE = /^['"\]]*\s*(?:\?\.|\?\?|\|\s*default\b)/;

/** A name with its place for a report. */
type Tell = (
  part: NamePart,
  problem: Pick<Report, "code" | "message" | "hint" | "mending">,
  as?: "error" | "warning",
) => void;

/** Reports the names of a text that do not exist. Answers with the reads of steps' outputs. */
export function checkNamesOf(text: TextWithNames, known: KnownNames, findings: Findings): NameRead[] {
  const before = findings.errors.length;
  const { names, language, node, path } = text;
  const tell: Tell = (part, problem, as = "error") => {
    if (findings.errors.length - before >= MAX_PROBLEMS_IN_ONE_TEXT) return;
    const placed = { ...problem, at: node.at, path, inside: placeInText(text, part.at) };
    if (as === "error") return findings.error(placed);
    const { mending: _mending, ...warning } = placed;
    findings.warn(warning);
  };
  const checker = new NameChecker(known, language, text.text, tell, findings);
  return names.reads.filter(
    (read) => !text.more?.includes(read.path[0]!.name) && checker.check(read, names.hidden),
  );
}

class NameChecker {
  /** A name before this offset has already been reported. */
  #toldUpTo = -1;

  constructor(
    private readonly known: KnownNames,
    private readonly language: Language,
    private readonly text: string,
    private readonly tell: Tell,
    private readonly findings: Findings,
  ) {}

  /** True for a read of an existing step's output. `hidden`: more names may exist than are written. */
  check({ path, asked }: NameRead, hidden: boolean): boolean {
    const [root, member, further] = path as [NamePart, NamePart?, NamePart?];
    if (root.at < this.#toldUpTo) return false;
    if (!this.known.has(root.name, this.language)) {
      if (!hidden) this.#tellUnknownName(root);
      return false;
    }
    if (member === undefined || isMemberOfAll(member.name, this.language)) return false;
    if (root.name === "outputs") {
      const isHistory = member.name === HISTORY;
      const step = isHistory ? further : member;
      return step !== undefined && this.#checkStep(step, path, asked) && !isHistory;
    }
    const members = this.known.membersOf(root.name, this.language);
    if (members !== null && !members.has(member.name)) this.#tellUnknownMember(root, member, members.keys());
    return false;
  }

  #checkStep(step: NamePart, path: readonly NamePart[], asked: boolean): boolean {
    const { steps } = this.known.file;
    if (steps.has(step.name)) return true;
    if (isMemberOfAll(step.name, this.language) || this.#tellSubtraction(step)) return false;
    const place = path.indexOf(step);
    const before = path.slice(0, place).map(({ name }) => name);
    const meant =
      dottedName(path.slice(place), steps) ?? this.findings.suggester.nearest(step.name, steps.keys());
    const suggestion = meant === null ? null : withMember(before.join("."), meant, this.language);
    const message = `${quote([...before, step.name].join("."))} is not a step of the file${didYouMean(suggestion)}`;
    const hint =
      suggestion === null
        ? "Fix the name or define the step."
        : `Write \`${suggestion}\`, or define the step.`;
    const after = this.text.slice(step.at + step.name.length);
    this.tell(
      step,
      { code: "UNKNOWN_STEP", message, hint },
      asked && NULL_SAFE.test(after) ? "warning" : "error",
    );
    return false;
  }

  #tellUnknownName(part: NamePart): void {
    if (this.#tellSubtraction(part)) return;
    const { inputs, steps } = this.known.file;
    const { name } = part;
    const suggestion = inputs.has(name)
      ? withMember("inputs", name, this.language)
      : steps.has(name)
        ? withMember("outputs", name, this.language)
        : this.findings.suggester.nearest(name, this.known.all(this.language));
    const message = `unknown name ${quote(name)}${didYouMean(suggestion)}`;
    const hint =
      suggestion === null
        ? `Known here: ${this.known.ofRun().join(", ")}. Other names that a run's context gives must be declared under \`context\`.`
        : `Rename it to \`${suggestion}\`.`;
    this.tell(part, { code: "UNKNOWN_NAME", message, hint, mending: rename(name, suggestion) });
  }

  #tellUnknownMember(root: NamePart, member: NamePart, members: Iterable<string>): void {
    if (this.#tellSubtraction(member)) return;
    const names = [...members];
    const suggestion = this.findings.suggester.nearest(member.name, names);
    const message = `${MEMBER_WORDS[root.name]?.(quote(member.name)) ?? `${quote(root.name)} has no field ${quote(member.name)}`}${didYouMean(suggestion)}`;
    const hint =
      suggestion === null
        ? (MEMBER_HINTS[root.name] ?? `Fields of \`${root.name}\`: ${names.join(", ")}.`)
        : `Rename it to \`${suggestion}\`.`;
    this.tell(member, { code: "UNKNOWN_NAME", message, hint, mending: rename(member.name, suggestion) });
  }

  /** `outputs.lint-fix` is a name in a template, but `outputs.lint` minus `fix` in an expression. */
  #tellSubtraction(part: NamePart): boolean {
    if (this.language !== "expression") return false;
    let from = part.at;
    let to = part.at;
    while (from > 0 && WORD.test(this.text[from - 1]!)) from--;
    while (to < this.text.length && WORD.test(this.text[to]!)) to++;
    const word = this.text.slice(from, to);
    if (!word.includes("-")) return false;
    const { steps, inputs } = this.known.file;
    const root = steps.has(word) ? "outputs" : inputs.has(word) ? "inputs" : null;
    if (root === null) return false;
    this.#toldUpTo = to;
    const suggestion = `${root}['${word}']`;
    const message = `${quote(word)} is a subtraction here${didYouMean(suggestion)}`;
    this.tell(part, { code: "UNKNOWN_NAME", message, hint: `Write \`${suggestion}\`.` });
    return true;
  }
}

const MEMBER_WORDS: { readonly [root: string]: ((member: string) => string) | undefined } = {
  inputs: (member) => `unknown input ${member}`,
  env: (member) => `\`env\` has no variable ${member}`,
};
const MEMBER_HINTS: { readonly [root: string]: string | undefined } = {
  inputs: "Fix the name, or declare it under `inputs`.",
  foreach:
    "Fields of `foreach`: key, index, total, path. The item itself is the output of the step with `forEach`, such as `outputs.list`.",
  env: "It contains what the file sets under `env`, except secrets. Shell lines and programs see the whole environment.",
};

const PLAIN_MEMBER: { readonly [language in Language]: RegExp } = {
  expression: /^[A-Za-z_$][\w$]*$/,
  template: /^[A-Za-z_][\w-]*$/,
};

function withMember(name: string, member: string, language: Language): string {
  return PLAIN_MEMBER[language].test(member) ? `${name}.${member}` : `${name}['${member}']`;
}

/** The step `build.v2` in `build.v2.x`. Elsewhere such a name must be written in brackets. */
function dottedName(parts: readonly NamePart[], steps: { has(name: string): boolean }): string | null {
  for (let end = parts.length; end > 1; end--) {
    const name = parts
      .slice(0, end)
      .map((part) => part.name)
      .join(".");
    if (steps.has(name)) return name;
  }
  return null;
}
