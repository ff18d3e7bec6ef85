import { WEBHOOK_FORMS, WEBHOOK_NAMES, type WebhookDefinition } from "../../../core/schedule/triggers.js";
import type { Json } from "../../../core/text/json.js";
import type { SecretPlace } from "../../../core/text/secret-place.js";
import type { Path } from "../../read/path.js";
import { type PlacedText, placeInText } from "../../read/placed-text.js";
import {
  type Located,
  located,
  mapOf,
  mapped,
  named,
  object,
  type ReadContext,
  type Schema,
  union,
  type Written,
} from "../../read/schema.js";
import { json, oneOf, type TextOptions, text } from "../../read/schema-scalars.js";
import { didYouMean, quote } from "../../read/suggest.js";
import { checkTemplate, expression } from "../code-fields.js";

/** The name of an environment variable, where somebody may be tempted to write its value. */
export const variable = text({
  expected: "the name of a variable",
  maxChars: 200,
  pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
  rule: "Give the name of an environment variable, not the secret itself; or `{ file: /path }`.",
});

/** Where a server finds a secret. The secret itself is in no file that Daruma reads as text. */
export const secret: Schema<SecretPlace, string | { readonly file: string }> = union(
  mapped(variable, (name): SecretPlace => ({ variable: name })),
  mapped(
    object({
      file: {
        schema: text({ pattern: /^\//, rule: "Write an absolute path." }),
        doc: "A file on the server that holds the secret and nothing else.",
        required: true,
      },
    }),
    ({ file = "" }): SecretPlace => ({ file }),
  ),
);

/** Runs of a workflow know more names than a request has. */
function ofRequest<T, W>(schema: Schema<T, W>): Schema<T, W> {
  return {
    ...schema,
    read(node, path, context) {
      const texts: ReadContext["texts"] = [];
      const value = schema.read(node, path, { ...context, texts });
      for (const each of texts) checkNames(each, each.names.reads, context);
      return value;
    },
  };
}

function checkNames(
  given: PlacedText,
  reads: ReadContext["texts"][number]["names"]["reads"],
  { findings, findNames }: ReadContext,
): void {
  for (const { path: read } of reads) {
    const [root] = read;
    if (root === undefined || WEBHOOK_NAMES.some((name) => name === root.name)) continue;
    if (given.language === "expression" && findNames?.globals.has(root.name)) continue;
    const nearest = findings.suggester.nearest(root.name, WEBHOOK_NAMES);
    findings.error({
      code: "UNKNOWN_NAME",
      message: `unknown name ${quote(root.name)}${didYouMean(nearest)}`,
      hint: `A webhook sees only ${WEBHOOK_NAMES.map(quote).join(" and ")}.`,
      at: given.node.at,
      path: given.path,
      inside: placeInText(given, root.at),
    });
  }
}

const checkTemplateText: TextOptions["check"] = (written, node, path, context) =>
  checkTemplate({ language: "template", text: written, node, path }, context);

const FIELDS = {
  secret: {
    schema: secret,
    doc: "The environment variable of the server that holds the secret of the signature, or `{ file: /path }`.",
    required: true,
  },
  form: {
    schema: oneOf(WEBHOOK_FORMS),
    doc: "How requests are signed: as Standard Webhooks says, or as GitHub does.",
    default: "standard",
  },
  when: {
    schema: ofRequest(expression()),
    doc: "A JavaScript expression over `body` and `event`; a request for which it is false starts nothing.",
  },
  inputs: {
    schema: ofRequest(
      mapOf(located(json(checkTemplateText)), {
        keyPattern: /^[A-Za-z_][A-Za-z0-9_-]*$/,
        keyRule: "Give the name of an input of the workflow.",
      }),
    ),
    doc: "Inputs of the run; texts are templates over `body` and `event`.",
  },
} as const;

/** A webhook with the places of what is checked once the whole file is known. */
export interface WebhookDraft {
  readonly definition: WebhookDefinition;
  readonly inputs: ReadonlyMap<string, Located<Json>>;
  readonly at: number;
  readonly path: Path | null;
}

const map = object(FIELDS);

const webhook: Schema<WebhookDraft, Written<typeof map>> = named("webhook", {
  ...map,
  read(node, path, context) {
    const keys = map.read(node, path, context);
    if (keys?.secret === undefined) return undefined;
    const inputs = keys.inputs ?? new Map<string, Located<Json>>();
    const definition: WebhookDefinition = {
      secret: keys.secret,
      form: keys.form ?? "standard",
      when: keys.when ?? null,
      inputs: Object.fromEntries([...inputs].map(([name, { value }]) => [name, value])),
    };
    return { definition, inputs, at: node.at, path };
  },
});

/** What starts a published workflow besides a clock. */
export const triggers = object({
  webhook: { schema: webhook, doc: "Signed requests to `POST /hooks/{workflow}` of a server." },
});
