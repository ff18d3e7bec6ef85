import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { itemsOf, tooManyItems } from "../../core/decide/item-limit.js";
import { misfitOf } from "../../core/decide/output-fit.js";
import { DarumaError } from "../../core/errors/errors.js";
import type { Output, ScopeItem } from "../../core/model/events.js";
import type { FailureFacts } from "../../core/model/failure.js";
import type { Succeeded } from "../../core/model/outcome.js";
import type { Redactor } from "../../core/redaction/redaction.js";
import { isDeeperThan, type Json, MAX_JSON_LEVELS } from "../../core/text/json.js";

/** A larger output is stored in a file. The log then has its hash and first part. */
export const MAX_LOGGED_OUTPUT_BYTES = 64 * 1024;
const PREVIEW_CHARS = 1_000;
/** Every item of a fan-out reads the same artifact. Parsing it once per item would take quadratic time. */
const MAX_PARSED_ARTIFACTS = 4;

/** Artifacts by path, the most recently read last. */
const parsedArtifacts = new Map<string, Json>();

export interface OutputRules {
  readonly schema: Json | null;
  /** For a forEach step. Null if the output makes no items. */
  readonly maxItems: number | null;
  /** The path for an output that is too large for the log. */
  readonly artifact: string;
}

export type OutputRefusal = "OUTPUT_INVALID" | "TOO_MANY_ITEMS";

type JudgedOutput =
  | Succeeded
  | { readonly kind: "failed"; readonly facts: FailureFacts & { readonly code: OutputRefusal } };

/** The failure for an output that would overflow the stack of code that walks through it, whatever the action. */
export function tooDeep(value: Json): FailureFacts | null {
  if (!isDeeperThan(value, MAX_JSON_LEVELS)) return null;
  return { code: "OUTPUT_INVALID", message: `the output is nested more than ${MAX_JSON_LEVELS} levels deep` };
}

/**
 * Converts a step's value (already redacted) to its form in the log. A value that the step must not return is a
 * failure.
 */
export function resultOfOutput(value: Json, { schema, maxItems, artifact }: OutputRules): JudgedOutput {
  const misfit = misfitOf(value, schema);
  if (misfit !== null) return failed("OUTPUT_INVALID", misfit);
  if (maxItems === null || !Array.isArray(value))
    return { kind: "succeeded", output: storeOutput(value, artifact), items: null };
  const tooMany = tooManyItems(value.length, maxItems);
  if (tooMany !== null) return failed("TOO_MANY_ITEMS", tooMany.message);
  return { kind: "succeeded", output: storeOutput(value, artifact), items: itemsOf(value) };
}

/** Describes an output file for the log, from the file alone. Throws if it is not JSON or nested too deeply. */
export function describeOutputFile(path: string, bytes: Buffer): OutputFile {
  const text = bytes.toString("utf8");
  const value = JSON.parse(text) as Json;
  const refused = tooDeep(value);
  if (refused !== null) throw new DarumaError("OUTPUT_INVALID", refused.message);
  const items = itemsOf(value);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { output: { kind: "artifact", path, bytes: bytes.length, sha256, preview: previewOf(text) }, items };
}

export interface OutputFile {
  readonly output: Extract<Output, { kind: "artifact" }>;
  readonly items: readonly ScopeItem[] | null;
}

function previewOf(text: string): string {
  return [...text.slice(0, PREVIEW_CHARS)].join("");
}

function failed(code: OutputRefusal, message: string): JudgedOutput {
  return { kind: "failed", facts: { code, message } };
}

/** Stores a value, in the file if it is too large. */
export function storeOutput(value: Json, artifact: string): Output {
  if (isSmall(value)) return { kind: "value", value };
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_LOGGED_OUTPUT_BYTES) return { kind: "value", value };
  // An earlier database in the same folder may have used the name.
  parsedArtifacts.delete(artifact);
  mkdirSync(dirname(artifact), { recursive: true, mode: 0o700 });
  writeFileSync(artifact, text, { mode: 0o600 });
  const sha256 = createHash("sha256").update(text).digest("hex");
  return {
    kind: "artifact",
    path: artifact,
    bytes,
    sha256,
    preview: previewOf(text),
  };
}

/** The output of a failed attempt if it fits in the log. A failure alone is not worth a file. */
export function outputOfFailure(
  given: Json | undefined,
  redactor: Pick<Redactor, "redactJson">,
): { readonly output?: Output } {
  if (given === undefined || tooDeep(given) !== null) return {};
  const value = redactor.redactJson(given);
  if (!isSmall(value) && Buffer.byteLength(JSON.stringify(value)) > MAX_LOGGED_OUTPUT_BYTES) return {};
  return { output: { kind: "value", value } };
}

function isSmall(value: Json): boolean {
  if (typeof value === "string") return value.length * 4 < MAX_LOGGED_OUTPUT_BYTES;
  return value === null || typeof value !== "object";
}

export function readOutputArtifact(path: string): Json {
  const value = parsedArtifacts.get(path) ?? (JSON.parse(readFileSync(path, "utf8")) as Json);
  parsedArtifacts.delete(path);
  parsedArtifacts.set(path, value);
  if (parsedArtifacts.size > MAX_PARSED_ARTIFACTS)
    parsedArtifacts.delete(parsedArtifacts.keys().next().value!);
  return value;
}
