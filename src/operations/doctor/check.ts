import type { Context } from "../context.js";

/** What a check found: what is so, and what to do if that is not right. */
export interface Finding {
  readonly status: "ok" | "warning" | "error";
  readonly message: string;
  /** Null where nothing is to be done. */
  readonly fix: string | null;
}

/** One thing that can be wrong. Each is asked by itself: what one cannot find out, the others still can. */
export interface Check {
  readonly name: string;
  run(context: Context, request: CheckRequest): Promise<readonly Finding[]> | readonly Finding[];
}

export interface CheckRequest {
  /** Look through the whole database, however long that takes. */
  readonly full: boolean;
}

export const ok = (message: string): Finding => ({ status: "ok", message, fix: null });
export const warning = (message: string, fix: string): Finding => ({ status: "warning", message, fix });
export const error = (message: string, fix: string): Finding => ({ status: "error", message, fix });
