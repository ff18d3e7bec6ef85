import type { Template } from "liquidjs";
import { DarumaError } from "../../core/errors/errors.js";
import type { Json } from "../../core/text/json.js";
import { messageOf } from "../../core/text/message-of.js";
import type { SyntaxProblem } from "../../file/read/problem.js";
import { MAX_TEMPLATE_WORK } from "./limits.js";
import { type TemplateBudget, templateEngine } from "./liquid.js";

/** How many parsed templates are cached. Each attempt of a step renders the same few. */
const MAX_CACHED_TEMPLATES = 500;
const parsed = new Map<string, Template[]>();

export interface TemplateVariables {
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
