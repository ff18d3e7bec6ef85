import type { EvaluationResult } from "../../core/model/events.js";
import { isDeeperThan, type Json } from "../../core/text/json.js";
import { MAX_RESULT_BYTES, MAX_RESULT_DEPTH, MAX_SCRIPT_RESULT_BYTES } from "./limits.js";
import type { ExpectedResult } from "./sandbox.js";

/** An evaluation's result before anyone has added how long it took. */
export type Verdict =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly code: string; readonly reason: string; readonly stack?: string };

export function withDuration(verdict: Verdict, durationMs: number): EvaluationResult {
  return { ...verdict, duration_ms: durationMs };
}

export function refuse(code: string, reason: string): Extract<Verdict, { ok: false }> {
  return { ok: false, code, reason };
}

export function maxResultBytes(expects: ExpectedResult): number {
  return expects === "json" ? MAX_SCRIPT_RESULT_BYTES : MAX_RESULT_BYTES;
}

/** Judges what the sandbox handed out. `json` is the value's text, or null where the code returned nothing. */
export function checkResult(json: string | null, expects: ExpectedResult, code: string): Verdict {
  if (json === null) return checkNothing(expects, code.trim());
  if (Buffer.byteLength(json) > maxResultBytes(expects))
    return refuse("EXPRESSION_RESULT", "its result is too large");
  let value: Json;
  try {
    value = JSON.parse(json) as Json;
  } catch {
    return refuse("EXPRESSION_RESULT", "its result is not JSON");
  }
  if (isDeeperThan(value, MAX_RESULT_DEPTH))
    return refuse("EXPRESSION_RESULT", "its result is nested too deeply");
  switch (expects) {
    case "json":
      return { ok: true, value };
    case "boolean":
      return typeof value === "boolean" ? { ok: true, value } : wrongType("true or false", value);
    case "step_id_or_null":
      return value === null || typeof value === "string"
        ? { ok: true, value }
        : wrongType("a step id or null", value);
    case "step_ids":
      if (value === null) return { ok: true, value: [] };
      return isListOfStrings(value)
        ? { ok: true, value }
        : wrongType("a list of step ids", value, "a list with something else in it");
  }
}

/** `outputs.build.tests`: code that only names a value. */
const NAME_OF_VALUE = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/;

function checkNothing(expects: ExpectedResult, code: string): Verdict {
  const isFine = expects === "json" || expects === "step_id_or_null";
  if (isFine) return { ok: true, value: null };
  const question = NAME_OF_VALUE.test(code) ? `; does \`${code}\` exist?` : "";
  return refuse("EXPRESSION_RESULT", `the expression is undefined${question}`);
}

function isListOfStrings(value: Json): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function wrongType(wanted: string, value: Json, list = "a list"): Verdict {
  const found = value === null ? "null" : Array.isArray(value) ? list : typeof value;
  return refuse("EXPRESSION_RESULT", `it should return ${wanted}, but returned ${found}`);
}
