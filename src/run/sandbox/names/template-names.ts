import type { FilteredValueToken, PropertyAccessToken, Template, Token, Value } from "liquidjs";
import type { NamePart, NameRead, NamesInText, Printed } from "../../../file/read/placed-text.js";
import { type Liquidjs, parseTemplate, templateEngine } from "../template.js";

/** Tags that may test whether a variable exists, so a missing one is nil for them. */
const LENIENT_TAGS = new Set(["assign", "case", "if", "unless"]);
/** Tags whose content is not always rendered. */
const CONDITIONAL_TAGS = new Set(["case", "if", "unless"]);
const PRINTING_TAGS = new Set(["cycle", "echo"]);
/** Tags whose names need no check: the template itself makes the values, or they were visited piece by piece. */
const HARMLESS_TAGS = new Set(["capture", "decrement", "increment"]);
const LOOP_OBJECTS = new Set(["forloop", "tablerowloop"]);
/** Filters such as `where_exp` evaluate text that is passed to them. */
const EVALUATING_FILTER = /_exp$/;
/** The word in `offset: continue` of a `for` tag; it is no variable. */
const CONTINUE = "continue";
const SHELL_FILTER = "sh";

/** The names in a template; null if it does not parse. */
export function namesInTemplate(text: string): NamesInText | null {
  let templates: Template[];
  try {
    templates = parseTemplate(text);
  } catch {
    return null;
  }
  return new TemplateWalk(templateEngine().liquidjs).walk(templates);
}

interface Filtered {
  readonly initial: { readonly postfix: readonly Token[] };
  readonly filters: readonly {
    readonly name: string;
    readonly args: FilteredValueToken["filters"][number]["args"];
  }[];
}

/** Collects what a template declares, reads and prints; all blocks count as one scope, as in expressions. */
class TemplateWalk {
  readonly #liquidjs: Liquidjs;
  readonly #reads: NameRead[] = [];
  readonly #declared = new Set<string>([CONTINUE]);
  /**
   * Declared names that may hold any value (`#open`), and those whose value was quoted or needs no quoting (`#closed`).
   */
  readonly #open = new Set<string>();
  readonly #closed = new Set<string>();
  readonly #prints: Printed[] = [];
  #hidden = false;
  /** How many conditions surround the node being visited. */
  #conditions = 0;

  constructor(liquidjs: Liquidjs) {
    this.#liquidjs = liquidjs;
  }

  walk(templates: readonly Template[]): NamesInText {
    for (const template of templates) this.#visit(template);
    const isClosed = (name: string) => this.#closed.has(name) && !this.#open.has(name);
    return {
      reads: this.#reads.filter(({ path }) => !this.#declared.has(path[0]!.name)),
      declared: this.#declared,
      hidden: this.#hidden,
      literals: [],
      prints: this.#prints.map((printed) => ({
        ...printed,
        reads: printed.reads.filter(({ path }) => !isClosed(path[0]!.name)),
      })),
    };
  }

  #visit(template: Template): void {
    const tag = tagName(template);
    const prints = tag === null || PRINTING_TAGS.has(tag);
    for (const argument of template.arguments?.() ?? []) {
      const first = this.#reads.length;
      const filters = this.#readArgument(argument, tag !== null && LENIENT_TAGS.has(tag));
      const reads = this.#reads.slice(first);
      const { begin: from, end: to } = template.token;
      if (prints) this.#prints.push({ from, to, filters, reads });
      if (tag === "assign")
        this.#noteAssigned(template, reads.length === 0 || filters.includes(SHELL_FILTER));
    }
    for (const { content } of template.localScope?.() ?? []) {
      this.#declared.add(content);
      if (tag !== null && HARMLESS_TAGS.has(tag)) this.#closed.add(content);
    }
    for (const name of template.blockScope?.() ?? []) {
      this.#declared.add(name);
      (LOOP_OBJECTS.has(name) ? this.#closed : this.#open).add(name);
    }
    if (template.children === undefined) return;
    const isConditional = tag !== null && CONDITIONAL_TAGS.has(tag);
    if (isConditional) this.#conditions++;
    for (const child of this.#liquidjs.toValueSync(template.children(false, true))) this.#visit(child);
    if (isConditional) this.#conditions--;
  }

  #noteAssigned(template: Template, isQuoted: boolean): void {
    for (const { content } of template.localScope?.() ?? [])
      (isQuoted ? this.#closed : this.#open).add(content);
  }

  /** Collects the names in an argument. Returns the filters that its value passes through. */
  #readArgument(argument: Value | Token, lenient: boolean): readonly string[] {
    const { TypeGuards, Value: ValueClass } = this.#liquidjs;
    if (argument instanceof ValueClass) return this.#readFiltered(argument, lenient);
    if (TypeGuards.isFilteredValueToken(argument)) return this.#readFiltered(argument, lenient);
    this.#readToken(argument, lenient);
    return [];
  }

  #readFiltered({ initial, filters }: Filtered, lenient: boolean): readonly string[] {
    const asked = lenient || filters[0]?.name === "default";
    for (const token of initial.postfix) this.#readToken(token, asked);
    for (const { name, args } of filters) {
      if (EVALUATING_FILTER.test(name)) this.#hidden = true;
      for (const argument of args) {
        const token = Array.isArray(argument) ? argument[1] : argument;
        if (token !== undefined) this.#readToken(token, false);
      }
    }
    return filters.map(({ name }) => name);
  }

  #readToken(token: Token, asked: boolean): void {
    const { TypeGuards } = this.#liquidjs;
    if (TypeGuards.isRangeToken(token)) {
      this.#readToken(token.lhs, asked);
      this.#readToken(token.rhs, asked);
    } else if (TypeGuards.isFilteredValueToken(token)) this.#readFiltered(token, asked);
    else if (TypeGuards.isPropertyAccessToken(token)) this.#readAccess(token, asked);
  }

  #readAccess({ variable, props }: PropertyAccessToken, asked: boolean): void {
    if (variable !== undefined) this.#readToken(variable, asked);
    const path: NamePart[] = [];
    let isWritten = variable === undefined;
    for (const part of props) {
      const written = this.#partOf(part);
      if (written === null) this.#readToken(part, asked);
      isWritten &&= written !== null;
      if (isWritten && written !== null) path.push(written);
    }
    if (path.length > 0) this.#reads.push({ path, asked: asked || this.#conditions > 0 });
    // In `{{ [name].x }}` the variable is only known when the template is rendered.
    else if (variable === undefined) this.#hidden = true;
  }

  #partOf(part: Token): NamePart | null {
    const { TypeGuards } = this.#liquidjs;
    if (TypeGuards.isWordToken(part) || TypeGuards.isQuotedToken(part) || TypeGuards.isNumberToken(part))
      return { name: String(part.content), at: part.begin };
    return null;
  }
}

/** The tag of a node; null for `{{ ... }}` and for plain text. */
function tagName({ token }: Template): string | null {
  return "name" in token && typeof token.name === "string" ? token.name : null;
}
