import type { ActionDefinition } from "../../core/model/definition.js";
import type { Json } from "../../core/text/json.js";
import { unsupportedKeywords } from "../../core/text/json-schema-check.js";
import { childPath, type Path } from "../read/path.js";
import {
  type Fields,
  type JsonSchema,
  listOf,
  type ReadContext,
  type Schema,
  union,
} from "../read/schema.js";
import { json, number, oneOf, scalarText, text } from "../read/schema-scalars.js";
import { findEntry, type SourceMap } from "../read/source-tree.js";
import { quote } from "../read/suggest.js";
import { checkTemplateText, shellLine } from "./code-fields.js";
import { refuseShellOfList, shellField } from "./shell-field.js";

/** A schema as a program may write it. */
type WrittenSchema = { readonly [keyword: string]: Json };

const schemaMap: Schema<Json, WrittenSchema> = (() => {
  const { written: _, ...any } = json();
  return {
    ...any,
    expected: "a JSON Schema (a map)",
    fits: (node) => node.kind === "map",
    read(node, path, context) {
      const schema = any.read(node, path, context);
      if (schema === undefined) return undefined;
      for (const problem of unsupportedKeywords(schema)) {
        context.findings.error({
          code: "INVALID_VALUE",
          message: `the schema at ${problem.path}: ${problem.message}`,
          at: node.at,
          path,
        });
      }
      return schema;
    },
    json: () => ({ type: "object" }),
  };
})();

/** A JSON Schema of which every keyword can be checked. */
export const jsonSchemaField: Schema<Json, WrittenSchema> = { ...union(schemaMap), json: schemaMap.json };

const origin = text({
  expected: "an origin such as `https://files.example.com`",
  pattern: /^https?:\/\/[^\s/?#@\\{}]+$/,
  rule: "Write the scheme and host, plus the port if it is not the default, and nothing after it.",
});

/** The field for everything that sends requests. */
export const redirectOriginsField = {
  schema: listOf(origin, { items: "origins", notEmpty: true }),
  doc: "Other origins that a redirect may send the request to unchanged: its headers, including credentials, and its body.",
} as const;

/** Programs that Daruma knows how to call. */
export const AGENT_PROFILES = ["aider", "claude", "codex", "gemini", "goose", "opencode"] as const;
export type AgentProfileName = (typeof AGENT_PROFILES)[number];

const PROMPT_CHANNELS = ["stdin", "file", "argument"] as const;
export type PromptChannel = (typeof PROMPT_CHANNELS)[number];

const LLM_PROVIDERS = ["openai-compatible", "openai", "anthropic", "google"] as const;
export type LlmProvider = (typeof LLM_PROVIDERS)[number];

/** The default variable for each provider's key. A compatible endpoint may need none. */
const DEFAULT_KEY_VARIABLES: { readonly [provider in LlmProvider]: string | null } = {
  "openai-compatible": null,
  openai: "OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
  google: "GOOGLE_GENERATIVE_AI_API_KEY",
};
const MAX_TEMPERATURE = 2;
const MAX_OUTPUT_TOKENS = 10_000_000;

const template = (expected: string) => scalarText({ expected, mayBeEmpty: true, check: checkTemplateText });
const filledTemplate = (expected: string) => text({ expected, check: checkTemplateText });

export const agentFields = {
  prompt: { schema: filledTemplate("a prompt"), doc: "What the agent should do.", required: true },
  exec: {
    schema: union(
      shellLine(),
      listOf(template("an argument"), { items: "a program's name and arguments", notEmpty: true }),
    ),
    doc: "The agent's command line for the shell, or a list of a program and its arguments; `{prompt}` and `{prompt_file}` in it are filled in.",
  },
  shell: shellField,
  profile: { schema: oneOf(AGENT_PROFILES), doc: "A well-known agent program, instead of `exec`." },
  prompt_via: {
    schema: oneOf(PROMPT_CHANNELS),
    doc: "How the agent gets its prompt; that of the profile, else `stdin`.",
  },
  objective: {
    schema: filledTemplate("an objective"),
    doc: "The overall goal; by default the workflow's name.",
  },
} as const satisfies Fields;

export const llmCallFields = {
  provider: { schema: oneOf(LLM_PROVIDERS), doc: "The provider whose protocol is used.", required: true },
  model: { schema: filledTemplate("a model's name"), doc: "The model.", required: true },
  base_url: {
    schema: filledTemplate("an address"),
    doc: "The base URL of the endpoint; required for `openai-compatible`.",
  },
  api_key_env: {
    schema: text({
      expected: "an environment variable's name",
      pattern: /^(?!DARUMA_)[A-Za-z_][A-Za-z0-9_]*$/,
      rule: "Give the name of a variable, never the key itself.",
    }),
    doc: "The variable that holds the key. It counts as one of the workflow's secrets.",
  },
  system: { schema: template("text"), doc: "The system prompt." },
  prompt: { schema: filledTemplate("a prompt"), doc: "What the model is asked.", required: true },
  temperature: {
    schema: number({ min: 0, max: MAX_TEMPERATURE, whole: false }),
    doc: "How random the model's choice of words is.",
  },
  max_output_tokens: {
    schema: number({ min: 1, max: MAX_OUTPUT_TOKENS, whole: true }),
    doc: "The longest answer.",
  },
  schema: { schema: jsonSchemaField, doc: "JSON Schema of the answer, which becomes the output as JSON." },
  redirect_origins: redirectOriginsField,
} as const satisfies Fields;

/** What an agent needs besides its required keys, for editors. */
export const AGENT_NEEDS: JsonSchema = { anyOf: [{ required: ["exec"] }, { required: ["profile"] }] };
export const LLM_CALL_NEEDS: JsonSchema = {
  anyOf: [
    { required: ["base_url"] },
    { properties: { provider: { enum: LLM_PROVIDERS.filter((name) => name !== "openai-compatible") } } },
  ],
};

/** An agent needs a program to run. */
export function finishAgent(
  action: ActionDefinition,
  node: SourceMap,
  path: Path | null,
  context: ReadContext,
): ActionDefinition {
  const isGiven = (key: string) => findEntry(node, key) !== undefined;
  if (!isGiven("exec") && !isGiven("profile")) {
    context.findings.error({
      code: "MISSING_KEY",
      message: "an agent needs `exec` or `profile`",
      hint: `Give its command line, or one of the profiles ${AGENT_PROFILES.join(", ")}.`,
      at: node.at,
      path,
    });
  }
  return refuseShellOfList(action, node, path, context);
}

/** A model call with its key's variable filled in. */
export function finishLlmCall(
  action: ActionDefinition,
  node: SourceMap,
  path: Path | null,
  context: ReadContext,
): ActionDefinition {
  const provider = action.provider as LlmProvider | undefined;
  if (provider === undefined) return action;
  if (provider === "openai-compatible" && findEntry(node, "base_url") === undefined) {
    context.findings.error({
      code: "MISSING_KEY",
      message: `the provider ${quote(provider)} needs \`base_url\``,
      hint: "Add the endpoint's address, such as `http://127.0.0.1:11434/v1`.",
      at: findEntry(node, "provider")?.value.at ?? node.at,
      path: childPath(path, "provider"),
    });
  }
  const key = action.api_key_env ?? DEFAULT_KEY_VARIABLES[provider];
  return key === null ? action : { ...action, api_key_env: key };
}

/** The variables that hold keys of model calls: secrets, listed or not. */
export function keyVariables(actions: readonly ActionDefinition[]): string[] {
  return actions.flatMap(({ type, api_key_env }) =>
    type === "llm_call" && typeof api_key_env === "string" ? [api_key_env] : [],
  );
}
