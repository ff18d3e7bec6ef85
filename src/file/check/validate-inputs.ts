import { ERROR_CATALOGUE } from "../../core/errors/errors.js";
import type { Definition, InputDefinition } from "../../core/model/definition.js";
import type { Json } from "../../core/text/json.js";
import type { ScheduleDraft } from "../fields/start/schedule-fields.js";
import type { WebhookDraft } from "../fields/start/webhook-fields.js";
import { hasValue, typeOfJson } from "../fields/workflow-fields.js";
import { deepFreeze } from "../read/freeze.js";
import type { Findings } from "../read/problem.js";
import { didYouMean, quote, Suggester } from "../read/suggest.js";

interface InputProblem {
  readonly code: "INVALID_INPUT";
  readonly input: string;
  readonly message: string;
  readonly hint: string;
}

type ResolvedInputs =
  | { readonly ok: true; readonly inputs: { readonly [name: string]: Json } }
  | { readonly ok: false; readonly problems: readonly InputProblem[] };

/** Values for a run: given ones brought to their declared type (a command line only has text), defaults for the rest. */
export function resolveInputs(
  definition: Definition,
  given: { readonly [name: string]: Json },
): ResolvedInputs {
  const problems: InputProblem[] = [];
  const inputs: { [name: string]: Json } = {};
  const report = (input: string, message: string, hint: string = ERROR_CATALOGUE.INVALID_INPUT.next) =>
    problems.push({ code: "INVALID_INPUT", input, message, hint });
  const suggester = new Suggester();
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(definition.inputs, name)) continue;
    const known = Object.keys(definition.inputs);
    const hint =
      known.length === 0
        ? "The workflow declares no inputs."
        : `Inputs of the workflow: ${known.join(", ")}.`;
    report(name, `unknown input ${quote(name)}${didYouMean(suggester.nearest(name, known))}`, hint);
  }
  for (const [name, declared] of Object.entries(definition.inputs)) {
    if (!Object.hasOwn(given, name)) {
      if (declared.required)
        report(
          name,
          `the input ${quote(name)} is missing`,
          `Give it with --input ${name}=<${declared.type}>, or in a program under inputs.`,
        );
      else inputs[name] = declared.default;
      continue;
    }
    const value = coerce(given[name]!, declared.type);
    if (value === undefined)
      report(
        name,
        `the input ${quote(name)} must be ${ARTICLE[declared.type]}, found ${found(given[name]!)}`,
      );
    else if (declared.enum !== undefined && !hasValue(declared.enum, value))
      report(
        name,
        `the input ${quote(name)} must be one of ${declared.enum.map((each) => JSON.stringify(each)).join(", ")}`,
      );
    else inputs[name] = value;
  }
  return deepFreeze(problems.length > 0 ? { ok: false, problems } : { ok: true, inputs });
}

const ARTICLE: Readonly<Record<InputDefinition["type"], string>> = {
  string: "a string",
  number: "a number",
  boolean: "true or false",
  object: "a JSON object",
  array: "a JSON array",
  any: "any value",
};

function found(value: Json): string {
  return typeof value === "string" ? quote(value) : value === null ? "null" : typeOfJson(value);
}

function coerce(value: Json, type: InputDefinition["type"]): Json | undefined {
  if (type === "any" || (value !== null && typeOfJson(value) === type)) return value;
  if (typeof value !== "string") return undefined;
  switch (type) {
    case "number":
      return /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(value.trim()) && Number.isFinite(Number(value))
        ? Number(value)
        : undefined;
    case "boolean":
      return value === "true" ? true : value === "false" ? false : undefined;
    case "object":
    case "array":
      return parseAs(value, type);
    case "string":
      return value;
    default:
      return type satisfies never;
  }
}

function parseAs(text: string, type: "object" | "array"): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return value !== null && typeOfJson(value) === type ? value : undefined;
  } catch {
    return undefined;
  }
}

const ANYTHING: InputDefinition = { type: "any", required: false, default: null, description: null };

/** Nobody is there to give another value when a run starts by itself, so the inputs must do as they are. */
export function validateStarts(
  {
    schedules,
    webhook,
  }: { readonly schedules: readonly ScheduleDraft[]; readonly webhook: WebhookDraft | undefined },
  definition: Definition,
  findings: Findings,
): void {
  for (const schedule of schedules) checkInputs("schedule", schedule, definition, findings);
  if (webhook === undefined) return;
  const filled = [...webhook.inputs].flatMap(([name, { value }]) => (isFilled(value) ? [name] : []));
  const known = filled.filter((name) => Object.hasOwn(definition.inputs, name));
  // What a request brings is checked when it comes.
  const inputs = { ...definition.inputs, ...Object.fromEntries(known.map((name) => [name, ANYTHING])) };
  checkInputs("webhook", webhook, { ...definition, inputs }, findings);
}

function checkInputs(
  what: "schedule" | "webhook",
  { definition: { inputs: given }, inputs, at, path }: ScheduleDraft | WebhookDraft,
  definition: Definition,
  findings: Findings,
): void {
  const resolved = resolveInputs(definition, given);
  for (const { code, input, message, hint } of resolved.ok ? [] : resolved.problems) {
    const place = inputs.get(input);
    const missing = `Give ${quote(input)} a value under \`inputs\` of the ${what}, or a default.`;
    findings.error({
      ...{ code, message, hint: place === undefined ? missing : hint },
      ...{ at: place?.at ?? at, path: place === undefined ? path : place.path },
    });
  }
}

/** Whether a template in it makes it something else. */
function isFilled(value: Json): boolean {
  if (typeof value === "string") return value.includes("{{") || value.includes("{%");
  if (value === null || typeof value !== "object") return false;
  return Object.values(value).some(isFilled);
}
