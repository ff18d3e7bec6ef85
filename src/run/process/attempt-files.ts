import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from "node:fs";
import type { FailureFacts } from "../../core/model/failure.js";
import { isDeeperThan, type Json, MAX_JSON_LEVELS } from "../../core/text/json.js";
import { shortageBehind } from "./machine-shortage.js";
import { boundedWait } from "./retry-after.js";

export const MAX_FAILURE_FILE_BYTES = 64 * 1024;
export const MAX_OUTPUT_FILE_BYTES = 16 * 1024 * 1024;

type Declared = NonNullable<FailureFacts["declared"]>;

export type OutputFile =
  | { readonly kind: "missing" }
  | { readonly kind: "json"; readonly value: Json }
  | { readonly kind: "invalid"; readonly defect: string };

/** The JSON that a step wrote for its output, if it wrote any. */
export function readOutputFile(path: string): OutputFile {
  const file = readAttemptFile(path, MAX_OUTPUT_FILE_BYTES);
  return typeof file === "object" && file !== null ? parseJson(file.text) : describeUnread(file);
}

/** What a step declared of its failure; what is wrong with the declaration, where it cannot be used. */
export function readDeclaredFailure(path: string): { declared: Declared | null; defect: string } {
  const file = readAttemptFile(path, MAX_FAILURE_FILE_BYTES);
  if (file === null) return { declared: null, defect: "" };
  if (typeof file === "string") return { declared: null, defect: file };
  const parsed = parseJson(file.text);
  if (parsed.kind !== "json")
    return { declared: null, defect: parsed.kind === "invalid" ? parsed.defect : "" };
  return parseDeclared(parsed.value);
}

function describeUnread(file: string | null): OutputFile {
  return file === null ? { kind: "missing" } : { kind: "invalid", defect: file };
}

function parseJson(text: string): OutputFile {
  try {
    const value = JSON.parse(text) as Json;
    if (!isDeeperThan(value, MAX_JSON_LEVELS)) return { kind: "json", value };
    return { kind: "invalid", defect: `nested more than ${MAX_JSON_LEVELS} levels deep` };
  } catch {
    return { kind: "invalid", defect: text.trim() === "" ? "the file is empty" : "not valid JSON" };
  }
}

function parseDeclared(value: Json): { declared: Declared | null; defect: string } {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    return { declared: null, defect: "not a JSON object" };
  }
  const { code, message, retryable, retry_after_ms } = value as { readonly [key: string]: Json };
  const wrong = [
    isOptional(code, "string") ? "" : "code is not a string",
    isOptional(message, "string") ? "" : "message is not a string",
    isOptional(retryable, "boolean") ? "" : "retryable is neither true nor false",
    isOptional(retry_after_ms, "number") && !(Number(retry_after_ms ?? 0) < 0)
      ? ""
      : "retry_after_ms is not a duration",
  ].filter((defect) => defect !== "");
  if (wrong.length > 0) return { declared: null, defect: wrong.join(", ") };
  return {
    declared: {
      ...(typeof code === "string" ? { code } : {}),
      ...(typeof message === "string" ? { message } : {}),
      ...(typeof retryable === "boolean" ? { retryable } : {}),
      ...(typeof retry_after_ms === "number" ? { retryAfterMs: boundedWait(retry_after_ms) } : {}),
    },
    defect: "",
  };
}

/** null counts as absent: it is what many programs write for a value that they do not have. */
function isOptional(value: Json | undefined, type: "string" | "boolean" | "number"): boolean {
  return value === undefined || value === null || typeof value === type;
}

/** The file's text; null if there is none; a sentence if it cannot be read. Throws what only this process lacks. */
function readAttemptFile(path: string, maxBytes: number): { readonly text: string } | string | null {
  let file: number;
  // Most steps write no such file: asking for it costs microseconds, an error with its stack or a trip through the
  // thread pool far more.
  if (!existsSync(path)) return null;
  try {
    // O_NONBLOCK: a step could have put a pipe there that nobody writes to.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (shortageBehind(error) !== null) throw error;
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? null : String((error as Error).message);
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return "not a regular file";
    if (stat.size > maxBytes) return `larger than ${maxBytes} bytes`;
    const bytes = Buffer.alloc(stat.size);
    return { text: bytes.toString("utf8", 0, readSync(file, bytes, 0, stat.size, 0)) };
  } catch (error) {
    return String((error as Error).message);
  } finally {
    closeSync(file);
  }
}
