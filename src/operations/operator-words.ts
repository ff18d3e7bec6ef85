import { DarumaError } from "../core/errors/errors.js";
import type { Definition } from "../core/model/definition.js";
import { parseStoredDefinition } from "../core/model/stored-definition.js";
import { createRedactor, type Redactor } from "../core/redaction/redaction.js";
import { plainText } from "../core/text/plain-text.js";
import type { Store } from "../store/store.js";

/** What stands in the log where nobody said why. */
export const DEFAULT_REASON = "by hand";

/** The reason of a client that was interrupted while it waited for its run. */
export const INTERRUPTED_REASON = "interrupted at the command line";

type Env = { readonly [name: string]: string | undefined };

/** What people type on its way into the log. */
export interface TypedWords extends Pick<Redactor, "redact" | "redactJson"> {
  /** Redacts a hint, which is passed on into prompts and files. */
  readonly redactHint: Redactor["redact"];
}

/** What a person types goes into the log: the secrets of the run's workflow are hidden in it as anywhere. */
export async function redactorFor(store: Store, runId: number, env: Env = process.env): Promise<TypedWords> {
  return typedWords((await definitionOf(store, runId))?.secrets ?? [], env);
}

/**
 * Redacts what operators type. If a secret is not set here it cannot be found, so a hint is then refused rather than
 * stored in plain text. A reason is not refused: the caller, such as an agent, need not have the run's secrets.
 */
export function typedWords(secrets: readonly string[], env: Env = process.env): TypedWords {
  const { redact, redactJson } = redactorOf(secrets, env);
  const missing = secrets.filter((name) => !env[name]);
  return { redact, redactJson, redactHint: missing.length === 0 ? redact : () => refuseUnhidden(missing) };
}

function refuseUnhidden(missing: readonly string[]): never {
  throw new DarumaError(
    "MISSING_SECRET",
    `not set in the environment: ${missing.join(", ")}; the hint may contain its value`,
    {
      hint: {
        typed: `Set it, for example with \`export ${missing[0]}=...\`, or leave out the hint.`,
        asked: "Set it in the environment of the server and restart the server, or leave out the hint.",
      },
    },
  );
}

/** Redacts what the process reads, as opposed to what people type. Secrets that are not set are not redacted. */
export function redactorOf(secrets: readonly string[], env: Env = process.env): Redactor {
  return createRedactor(secrets.flatMap((name) => (env[name] ? [{ name, value: env[name] }] : [])));
}

/** Redacts texts about several runs, with the secrets of all their workflows. */
export async function redactorOver(store: Store, runIds: readonly number[]): Promise<TypedWords> {
  const secrets = new Map<string, readonly string[]>();
  for (const id of runIds) {
    const { definition_hash: hash } = (await store.readRun(id)) ?? {};
    if (hash === undefined || secrets.has(hash)) continue;
    const text = await store.readDefinition(hash);
    secrets.set(hash, text === null ? [] : parseStoredDefinition(text, hash).secrets);
  }
  return typedWords([...new Set([...secrets.values()].flat())]);
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

/**
 * The hint of a command as it is stored, without terminal controls. It is redacted again afterwards, because removing
 * these can reveal a secret.
 */
export function hintSaid(hint: string | undefined, words: TypedWords): { readonly hint?: string } {
  return hint === undefined ? {} : { hint: words.redactHint(plainText(words.redactHint(hint))) };
}

/** A hint is for attempts that follow; of what begins none it would be lost without a word. */
export function refuseHint(hint: string | undefined, action: string, takes: boolean): void {
  if (hint !== undefined && !takes)
    throw new DarumaError("HINT_REFUSED", `${action} takes no hint: it lets no step work again`);
}
