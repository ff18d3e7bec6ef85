import { createRequire } from "node:module";
import type { Context, FilterImplOptions, Liquid, LiquidOptions, Template } from "liquidjs";
import { DarumaError } from "../../core/errors/errors.js";
import type { Json } from "../../core/text/json.js";
import { messageOf } from "../../core/text/message-of.js";
import type { SyntaxProblem } from "../../file/read/problem.js";
import { MAX_TEMPLATE_CHARS, MAX_TEMPLATE_WORK, TEMPLATE_RENDER_MS } from "./limits.js";

/** Tags that read files. */
const FORBIDDEN_TAGS = ["include", "render", "layout", "block"];
/** Random filters: a template must give the same text for the same variables. */
const FORBIDDEN_FILTERS = ["sample"];
/** Filters that may read the clock. */
const DATE_FILTERS = ["date", "date_to_xmlschema", "date_to_rfc822", "date_to_string", "date_to_long_string"];

const OPTIONS: LiquidOptions = {
  strictVariables: true,
  strictFilters: true,
  // Templates use `default` and `if` to ask whether a variable exists, so these must accept undefined ones.
  lenientIf: true,
  ownPropertyOnly: true,
  templates: {},
  relativeReference: false,
  dynamicPartials: false,
  timezoneOffset: 0,
  locale: "en-US",
  outputEscape: chargedText,
  parseLimit: MAX_TEMPLATE_CHARS,
  renderLimit: TEMPLATE_RENDER_MS,
  memoryLimit: MAX_TEMPLATE_WORK,
};

/** What the templates of one step may use up together. */
type TemplateBudget = Pick<Context, "memoryLimit" | "renderLimit">;

export type Liquidjs = typeof import("liquidjs");

interface TemplateEngine {
  readonly liquidjs: Liquidjs;
  readonly liquid: Liquid;
  newBudget(work: number): TemplateBudget;
  newContext(variables: object, budget: TemplateBudget): Context;
}

let engine: TemplateEngine | undefined;

/** The engine, loaded with the first template: 10 ms that workflows without templates do not pay. */
export function templateEngine(): TemplateEngine {
  engine ??= createEngine();
  return engine;
}

function createEngine(): TemplateEngine {
  const liquidjs = createRequire(import.meta.url)("liquidjs") as Liquidjs;
  const liquid = new liquidjs.Liquid(OPTIONS);
  for (const tag of FORBIDDEN_TAGS) delete liquid.tags[tag];
  for (const filter of FORBIDDEN_FILTERS) delete liquid.filters[filter];
  for (const filter of DATE_FILTERS) liquid.registerFilter(filter, withoutClock(liquid.filters[filter]));
  liquid.registerFilter("sh", quoteForShell);
  // Nothing is escaped here, so `raw` has nothing to undo. Liquid's own `raw` would print objects as [object Object].
  liquid.registerFilter("raw", (value: unknown) => value);

  /**
   * Throws where plain Liquid reads a property of null as null. `rm -r {{ outputs.build.folder }}/` must not become `rm
   * -r /`.
   */
  class StrictContext extends liquidjs.Context {
    override readProperty(...[object, key]: Parameters<Context["readProperty"]>): unknown {
      return object === null ? undefined : super.readProperty(object, key);
    }
  }
  return {
    liquidjs,
    liquid,
    newBudget: (memoryLimit) => new StrictContext({}, liquid.options, { memoryLimit }),
    newContext: (variables, { memoryLimit, renderLimit }) =>
      new StrictContext(variables, liquid.options, { sync: true }, { liquid, memoryLimit, renderLimit }),
  };
}

/** Converts the value of every `{{ }}` (also inside `capture`) to text and charges its length to the budget. */
function chargedText(this: { readonly context: Context }, value: unknown): string {
  const text = toText(value);
  this.context.memoryLimit.use(text.length);
  return text;
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Quotes any text as one word for a POSIX shell. */
function quoteForShell(this: { readonly context: Context }, value: unknown): string {
  const text = chargedText.call(this, value);
  if (text.includes("\0")) throw new Error("sh: a shell word cannot contain a NUL character");
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function withoutClock(filter: FilterImplOptions | undefined): FilterImplOptions {
  const original = typeof filter === "function" ? filter : filter?.handler;
  if (original === undefined) throw new Error("liquidjs has lost a date filter");
  return function (value: unknown, ...args: unknown[]) {
    if (value === "now" || value === "today") throw new Error(`date: "${value}" is not the same twice`);
    return original.call(this, value, ...args);
  };
}

/** How many parsed templates are cached. Each attempt of a step renders the same few. */
const MAX_CACHED_TEMPLATES = 500;
const parsed = new Map<string, Template[]>();

interface TemplateVariables {
  readonly [name: string]: Json;
}

/** Why `text` is not a template, or null. */
export function checkTemplate(text: string): SyntaxProblem | null {
  if (!isTemplate(text)) return null;
  try {
    parseTemplate(text);
    return null;
  } catch (error) {
    return describeProblem(error);
  }
}

/** The text with its Liquid filled in. Objects and lists become JSON. Plain text is returned unchanged. */
export function renderTemplate(
  text: string,
  variables: TemplateVariables,
  budget: TemplateBudget = newBudget(),
): string {
  if (!isTemplate(text)) return text;
  let template: Template[];
  try {
    template = parseTemplate(text);
  } catch (error) {
    throw templateError("TEMPLATE_SYNTAX", error);
  }
  try {
    const { liquid, newContext } = templateEngine();
    // Copied, because Liquid's `increment` writes into the variables.
    const rendered = String(liquid.renderSync(template, newContext({ ...variables }, budget)));
    // Liquid does not count text between the tags, and a loop may have repeated it.
    budget.memoryLimit.use(rendered.length);
    return rendered;
  } catch (error) {
    throw templateError("TEMPLATE_ERROR", error);
  }
}

/** The rendered text. If the text is a single `{{ name }}`, returns the value itself, such as a number or a list. */
export function renderValue(
  text: string,
  variables: TemplateVariables,
  budget: TemplateBudget = newBudget(),
): Json {
  const [, name] = ONE_NAME.exec(text) ?? [];
  if (name === undefined) return renderTemplate(text, variables, budget);
  try {
    const { liquid, newContext } = templateEngine();
    return structuredClone(liquid.evalValueSync(name, newContext({ ...variables }, budget)) ?? null) as Json;
  } catch (error) {
    throw templateError("TEMPLATE_ERROR", error);
  }
}

/** One name without a filter: a filter is meant to produce text. */
const ONE_NAME = /^\s*\{\{-?([^|{}%]+?)-?\}\}\s*$/;

/** Renders every text in lists and objects, at any depth. Keys stay unchanged. */
export function renderDeep(json: Json, render: (text: string) => Json): Json {
  if (typeof json === "string") return render(json);
  if (json === null || typeof json !== "object") return json;
  if (isList(json)) return json.map((item) => renderDeep(item, render));
  return Object.fromEntries(Object.entries(json).map(([key, item]) => [key, renderDeep(item, render)]));
}

export function newBudget(work: number = MAX_TEMPLATE_WORK): TemplateBudget {
  return templateEngine().newBudget(work);
}

export function isTemplate(text: string): boolean {
  return text.includes("{{") || text.includes("{%");
}

function isList(json: Json): json is readonly Json[] {
  return Array.isArray(json);
}

/** Parses a template, or takes it from the cache. Throws if the text is not valid Liquid. */
export function parseTemplate(text: string): Template[] {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const template = templateEngine().liquid.parse(text);
  if (parsed.size >= MAX_CACHED_TEMPLATES) parsed.delete(parsed.keys().next().value ?? "");
  parsed.set(text, template);
  return template;
}

function templateError(code: "TEMPLATE_SYNTAX" | "TEMPLATE_ERROR", error: unknown): DarumaError {
  const { message, line, column } = describeProblem(error);
  const place = line === undefined ? "" : ` (line ${line}, column ${column})`;
  return new DarumaError(code, `${message}${place}`);
}

/** Splits Liquid's message, which ends with the position: `, line:1, col:4`. */
function describeProblem(error: unknown): SyntaxProblem {
  // Liquid's parser recurses, and wraps errors such as a stack overflow.
  const { originalError } = error as { readonly originalError?: unknown };
  if (originalError instanceof RangeError || error instanceof RangeError)
    return { message: "it is nested too deeply" };
  const whole = messageOf(error);
  const place = /, line:(\d+), col:(\d+)$/.exec(whole);
  if (place === null) return { message: whole };
  return { message: whole.slice(0, place.index), line: Number(place[1]), column: Number(place[2]) };
}
