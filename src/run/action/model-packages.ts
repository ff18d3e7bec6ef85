import { createRequire } from "node:module";
import { DarumaError } from "../../core/errors/errors.js";
import type { LlmProvider } from "../../file/fields/agent-fields.js";

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
