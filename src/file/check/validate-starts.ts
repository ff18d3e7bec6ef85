import type { Definition, InputDefinition } from "../../core/model/definition.js";
import type { Json } from "../../core/text/json.js";
import type { ScheduleDraft } from "../fields/start/schedule-fields.js";
import type { WebhookDraft } from "../fields/start/webhook-fields.js";
import type { Findings } from "../read/problem.js";
import { quote } from "../read/suggest.js";
import { resolveInputs } from "./validate-inputs.js";

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
