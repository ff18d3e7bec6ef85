import type { Definition } from "../core/model/definition.js";
import { parseStoredDefinition } from "../core/model/stored-definition.js";
import { createRedactor, type Redactor } from "../core/redaction/redaction.js";
import type { Store } from "../store/store.js";

/** What stands in the log where nobody said why. */
export const DEFAULT_REASON = "by hand";

/** What a person types goes into the log: the secrets of the run's workflow are hidden in it as anywhere. */
export async function redactorFor(
  store: Store,
  runId: number,
  env: { readonly [name: string]: string | undefined } = process.env,
): Promise<Redactor> {
  return redactorOf((await definitionOf(store, runId))?.secrets ?? [], env);
}

/** For somebody who has the run's definition. */
export function redactorOf(
  secrets: readonly string[],
  env: { readonly [name: string]: string | undefined } = process.env,
): Redactor {
  return createRedactor(secrets.flatMap((name) => (env[name] ? [{ name, value: env[name] }] : [])));
}

/** For words about several runs: the secrets of all their workflows. */
export async function redactorOver(store: Store, runIds: readonly number[]): Promise<Redactor> {
  const secrets = new Map<string, readonly string[]>();
  for (const id of runIds) {
    const { definition_hash: hash } = (await store.readRun(id)) ?? {};
    if (hash === undefined || secrets.has(hash)) continue;
    const text = await store.readDefinition(hash);
    secrets.set(hash, text === null ? [] : parseStoredDefinition(text, hash).secrets);
  }
  return redactorOf([...new Set([...secrets.values()].flat())]);
}

export async function redacted(store: Store, runId: number, words: string): Promise<string> {
  return (await redactorFor(store, runId)).redact(words);
}

export async function definitionOf(store: Store, runId: number): Promise<Definition | null> {
  const run = await store.readRun(runId);
  if (run === null) return null;
  const text = await store.readDefinition(run.definition_hash);
  return text === null ? null : parseStoredDefinition(text, run.definition_hash);
}
