import { createRequire } from "node:module";
import type { Context, FilterImplOptions, Liquid, LiquidOptions } from "liquidjs";
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
export type TemplateBudget = Pick<Context, "memoryLimit" | "renderLimit">;

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
