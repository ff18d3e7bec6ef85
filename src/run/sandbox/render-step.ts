import type { Json } from "../../core/text/json.js";
import { messageOf } from "../../core/text/message-of.js";
import { IN_PLACE_TAG_COST, IN_PLACE_TEMPLATE_COST, IN_PLACE_WORK, MAX_TEMPLATE_WORK } from "./limits.js";
import { isTemplate, newBudget, renderDeep, renderTemplate, renderValue } from "./template.js";

interface Texts {
  readonly [name: string]: string;
}

/** Everything to render for one step, within one budget. */
export interface Rendering {
  readonly variables: { readonly [name: string]: Json };
  /** Values of the variable `env` that are templates themselves. One that cannot be rendered is left unchanged. */
  readonly env: Texts;
  /** Every text in these is rendered, at any depth. */
  readonly trees: readonly { readonly json: Json; readonly as: "text" | "value" }[];
  /** Leaves texts of the trees that cannot be rendered unchanged, too. */
  readonly lenient?: boolean;
}

export interface Rendered {
  readonly env: Texts;
  readonly trees: readonly Json[];
}

/** Throws TEMPLATE_SYNTAX or TEMPLATE_ERROR. */
export function renderStep(rendering: Rendering, work: number = MAX_TEMPLATE_WORK): Rendered {
  const budget = newBudget(work);
  const { env: _, ...withoutEnv } = rendering.variables;
  const env: { [name: string]: string } = {};
  for (const [name, text] of Object.entries(rendering.env))
    env[name] = renderIfPossible(text, () => renderTemplate(text, withoutEnv, budget)) as string;
  const variables = withEnv(rendering.variables, env);
  const trees = rendering.trees.map(({ json, as }) => {
    const render = as === "value" ? renderValue : renderTemplate;
    const one = (text: string): Json => render(text, variables, budget);
    return renderDeep(
      json,
      rendering.lenient === true ? (text) => renderIfPossible(text, () => one(text)) : one,
    );
  });
  return { env, trees };
}

export function withEnv(
  variables: Rendering["variables"],
  rendered: Texts,
): { readonly [name: string]: Json } {
  if (Object.keys(rendered).length === 0) return variables;
  return { ...variables, env: { ...(variables.env as Texts), ...rendered } };
}

/**
 * Renders on this thread if that is certain to be cheap: few, short templates that only print and test variables.
 * Returns null if a sandbox thread should do it. Throws as `renderStep` does.
 */
export function renderInPlace(rendering: Rendering): Rendered | null {
  let cost = 0;
  for (const text of textsOf(rendering)) {
    if (!isTemplate(text)) continue;
    cost += IN_PLACE_TEMPLATE_COST + text.length;
    const tags = cost > IN_PLACE_WORK ? null : tagsIfSimple(text);
    if (tags === null) return null;
    cost += IN_PLACE_TAG_COST * tags;
  }
  if (cost > IN_PLACE_WORK) return null;
  if (cost === 0) return { env: rendering.env, trees: rendering.trees.map(({ json }) => json) };
  try {
    return renderStep(rendering, IN_PLACE_WORK);
  } catch (error) {
    if (isBeyond(error)) return null;
    throw error;
  }
}

function renderIfPossible(text: string, render: () => Json): Json {
  try {
    return render();
  } catch (error) {
    // The budget is used up, so no other text can be rendered either. The step fails, or a thread renders it.
    if (isBeyond(error)) throw error;
    return text;
  }
}

function isBeyond(error: unknown): boolean {
  return messageOf(error).includes("limit exceeded");
}

/**
 * Printing of a variable, with filters whose result is not much larger than their input. Other filters multiply:
 * `replace` of a megabyte in a megabyte took 500 MB before any limit was checked.
 */
const PRINT =
  /\{\{-?\s*[\w.[\]"'-]+\s*(?:\|\s*(?:sh|json|raw|size|strip|upcase|downcase|first|last|default:\s*(?:"[^"{}]{0,200}"|'[^'{}]{0,200}'|[\w.]+))\s*)*-?\}\}/g;

/** A test of variables, which runs once. Loops are not simple, nor are ranges, which make lists. */
const QUESTION =
  /\{%-?\s*(?:if|elsif|unless|case|when|else|endif|endunless|endcase)\b(?:(?!\.\.)[^|%{}]){0,500}-?%\}/g;

/** The number of tags in a template that only prints and tests variables; null if it does anything else. */
function tagsIfSimple(text: string): number | null {
  let tags = 0;
  const rest = text.replace(PRINT, "").replace(QUESTION, () => {
    tags += 1;
    return "";
  });
  return isTemplate(rest) ? null : tags;
}

function* textsOf({ env, trees }: Rendering): Generator<string> {
  yield* Object.values(env);
  for (const { json } of trees) yield* stringsIn(json);
}

export function* stringsIn(json: Json): Generator<string> {
  if (typeof json === "string") yield json;
  else if (Array.isArray(json)) for (const item of json) yield* stringsIn(item);
  else if (json !== null && typeof json === "object")
    for (const item of Object.values(json)) yield* stringsIn(item);
}

/** The reason of a thread, with its subject: `it was stopped after 10000 ms` alone does not mention the templates. */
export function notRendered(reason: string): string {
  return reason.startsWith("it ") ? `the templates of this step take too much: ${reason}` : reason;
}
