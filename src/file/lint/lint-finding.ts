import { ERROR_CATALOGUE, type ErrorCode } from "../../core/errors/errors.js";

/** Something legal that is hardly meant. `segments` say where: `["steps", "build", "on_fail"]`. */
export interface LintFinding {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
  readonly segments: readonly (string | number)[];
}

export function finding(
  code: ErrorCode,
  message: string,
  segments: LintFinding["segments"],
  hint?: string,
): LintFinding {
  return { code, message, hint: hint ?? ERROR_CATALOGUE[code].next, segments };
}
