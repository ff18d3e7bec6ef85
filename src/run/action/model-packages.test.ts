import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { LlmProvider } from "../../file/fields/agent-fields.js";
import { checkModelPackages, MODEL_PACKAGES } from "./llm-model.js";

interface Manifest {
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { optional: boolean }>>;
}

const manifest = JSON.parse(
  readFileSync(new URL("../../../package.json", import.meta.url), "utf8"),
) as Manifest;

/** As if only these packages were installed. */
const only =
  (...installed: string[]) =>
  (name: string): string => {
    if (!installed.includes(name)) throw new Error(`Cannot find module '${name}'`);
    return name;
  };

describe("the packages for calls to models", () => {
  it("are asked for by name, with the command that installs them", () => {
    expect(() => checkModelPackages("openai", only())).toThrow(
      expect.objectContaining({
        code: "PACKAGE_MISSING",
        message:
          "`llm_call` with `provider: openai` needs ai and @ai-sdk/openai, which are not installed. To install them: npm install ai@6 @ai-sdk/openai@3",
      }),
    );
    expect(() => checkModelPackages("google", only("ai"))).toThrow(
      expect.objectContaining({
        message:
          "`llm_call` with `provider: google` needs @ai-sdk/google, which is not installed. To install it: npm install @ai-sdk/google@3",
      }),
    );
  });

  it("are enough once they are there, and only those of the provider", () => {
    expect(checkModelPackages("anthropic", only("ai", "@ai-sdk/anthropic"))).toBeUndefined();
    for (const provider of Object.keys(MODEL_PACKAGES)) checkModelPackages(provider as LlmProvider);
  });

  it("are optional peers of the versions that the command names", () => {
    const wanted = [...new Set(Object.values(MODEL_PACKAGES).flat())].sort();
    const peers = Object.entries(manifest.peerDependencies).map(
      ([name, range]) => `${name}@${/^\^(\d+)\./.exec(range)?.[1]}`,
    );
    expect(peers.sort()).toEqual(wanted);
    expect(Object.keys(manifest.peerDependenciesMeta).sort()).toEqual(
      Object.keys(manifest.peerDependencies).sort(),
    );
    expect(Object.values(manifest.peerDependenciesMeta).every(({ optional }) => optional)).toBe(true);
  });
});
