import { createRequire } from "node:module";
import type { LanguageModel, streamText } from "ai";
import { DarumaError } from "../../core/errors/errors.js";
import type { ActionDefinition } from "../../core/model/definition.js";
import type { Json } from "../../core/text/json.js";
import type { LlmProvider } from "../../file/fields/agent-fields.js";
import { fetchFollowing, readRedirectOrigins } from "./http-request.js";

/** Installed by those who call models: with all they bring they are as large as the rest of Daruma. */
export const MODEL_PACKAGES: { readonly [provider in LlmProvider]: readonly string[] } = {
  anthropic: ["ai@6", "@ai-sdk/anthropic@3"],
  google: ["ai@6", "@ai-sdk/google@3"],
  openai: ["ai@6", "@ai-sdk/openai@3"],
  "openai-compatible": ["ai@6", "@ai-sdk/openai-compatible@2"],
};

type Resolve = (name: string) => string;

/** Throws PACKAGE_MISSING with the command that installs what is not there. */
export function checkModelPackages(
  provider: LlmProvider,
  resolve: Resolve = createRequire(import.meta.url).resolve,
): void {
  const missing = MODEL_PACKAGES[provider].filter((wanted) => !isThere(nameOf(wanted), resolve));
  if (missing.length === 0) return;
  const names = missing.map(nameOf).join(" and ");
  const [is, it] = missing.length === 1 ? ["is", "it"] : ["are", "them"];
  const message = `\`llm_call\` with \`provider: ${provider}\` needs ${names}, which ${is} not installed`;
  const command = `npm install ${missing.join(" ")}`;
  throw new DarumaError("PACKAGE_MISSING", `${message}. To install ${it}: ${command}`, {
    hint: `Run it where daruma is installed, with -g if daruma was installed with -g: ${command}`,
  });
}

function nameOf(wanted: string): string {
  return wanted.slice(0, wanted.lastIndexOf("@"));
}

function isThere(name: string, resolve: Resolve): boolean {
  try {
    resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** A model call as it is sent, made from the keys of an `llm_call` step. */
export interface ModelCall {
  readonly provider: LlmProvider;
  readonly modelId: string;
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  readonly temperature: number | null;
  readonly maxOutputTokens: number | null;
  readonly schema: Json | null;
  readonly redirectOrigins: ReadonlySet<string>;
}

interface LoadedModel {
  readonly model: LanguageModel;
  readonly providerOptions: NonNullable<Parameters<typeof streamText>[0]["providerOptions"]>;
}

/** The name under which options for a compatible endpoint are passed on. */
const COMPATIBLE = "endpoint";
/** Strict mode refuses schemas that leave a property optional; the answer is checked here anyway. */
const LENIENT = { strictJsonSchema: false };

/** Throws what the loader could not foresee: a package or key that is not there, an address that a template made. */
export function readModelCall(action: ActionDefinition, env: { readonly [name: string]: string }): ModelCall {
  const provider = action.provider as LlmProvider;
  checkModelPackages(provider);
  const baseUrl = action.base_url === undefined ? null : readBaseUrl(String(action.base_url));
  const variable = action.api_key_env as string | undefined;
  const apiKey = variable === undefined ? null : (env[variable] ?? "");
  if (apiKey === "") throw new DarumaError("MISSING_SECRET", `not set: ${variable}`);
  const modelId = String(action.model ?? "").trim();
  if (modelId === "") throw new DarumaError("REQUEST_INVALID", "`model` is empty");
  return {
    provider,
    modelId,
    baseUrl,
    apiKey,
    temperature: (action.temperature as number | undefined) ?? null,
    maxOutputTokens: (action.max_output_tokens as number | undefined) ?? null,
    schema: action.schema ?? null,
    redirectOrigins: readRedirectOrigins(action),
  };
}

function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw new DarumaError("REQUEST_INVALID", "`base_url` is not an http or https address");
  return text.replace(/\/+$/, "");
}

/** Loads the one library that the call needs; a program that calls no model pays for none. */
export async function loadModel(call: ModelCall): Promise<LoadedModel> {
  const { provider, modelId, baseUrl } = call;
  const apiKey = call.apiKey ?? "";
  const fetch = fetchFor(call);
  const endpoint = baseUrl === null ? { fetch } : { baseURL: baseUrl, fetch };
  switch (provider) {
    case "openai-compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const create = createOpenAICompatible({
        name: COMPATIBLE,
        baseURL: baseUrl ?? "",
        includeUsage: true,
        supportsStructuredOutputs: true,
        fetch,
        ...(call.apiKey === null ? {} : { apiKey }),
      });
      return { model: create(modelId), providerOptions: { [COMPATIBLE]: LENIENT } };
    }
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return {
        model: createOpenAI({ apiKey, ...endpoint })(modelId),
        providerOptions: { openai: LENIENT },
      };
    }
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return { model: createAnthropic({ apiKey, ...endpoint })(modelId), providerOptions: {} };
    }
    case "google": {
      const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
      return { model: createGoogleGenerativeAI({ apiKey, ...endpoint })(modelId), providerOptions: {} };
    }
  }
}

/**
 * The libraries' own would take key and prompt along to wherever it is redirected. An answer from elsewhere is no answer
 * of the model either, though nothing was taken there.
 */
function fetchFor({ redirectOrigins }: ModelCall): typeof fetch {
  return (address, init = {}) => {
    const request = {
      url: new URL(address instanceof Request ? address.url : address),
      method: init.method ?? "GET",
      headers: new Headers(init.headers),
      body: (init.body ?? null) as string | null,
      expects: () => false,
      redirectOrigins,
      staysAtOrigins: true,
    };
    return fetchFollowing(request, init.signal ?? null);
  };
}
