import type { Advice, ErrorCode } from "../../errors/errors.js";

/** Why an operator's command cannot be taken now. Without a hint the catalogue's advice for the code holds. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: Advice;
}

export function refuse(code: ErrorCode, message: string, hint?: Advice | string): Refusal {
  if (hint === undefined) return { code, message };
  return { code, message, hint: typeof hint === "string" ? { typed: hint, asked: hint } : hint };
}
