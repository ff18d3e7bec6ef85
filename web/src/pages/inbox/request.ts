import { api, dataOf, Problem as Refusal } from "../../api/client.js";
import type { paths } from "../../api/schema.js";
import type { ActionName, Request } from "./actions.js";

export type Outcome =
  paths["/api/v1/problems/decide"]["post"]["responses"][200]["content"]["application/json"];

/** A decision as it is sent. */
export interface Wish {
  readonly jobs: readonly { readonly job_id: number; readonly run_id: number; readonly step: string }[];
  readonly action: ActionName;
  readonly reason: string;
  /** The output for complete, as it was typed. */
  readonly output?: string;
  readonly choice?: string;
  readonly text?: string;
  readonly step?: string;
  /** For the step that is to work again. */
  readonly hint?: string;
}

/**
 * Sends a decision; the dry run sends the same request. The key belongs to one panel, so a repeated request takes
 * effect only once.
 */
export async function decide(wish: Wish, key: string, dryRun: boolean): Promise<Outcome> {
  if (wish.action === "fork") return forkAll(wish, key, dryRun);
  const body = { ...bodyOf(wish), key: keyOf(wish, key), dry_run: dryRun };
  return dataOf(api.POST("/api/v1/problems/decide", { body }));
}

function bodyOf({ jobs, action, reason, output, choice, text, step, hint }: Wish): Request {
  return {
    jobs: jobs.map(({ job_id }) => job_id),
    action: action as Request["action"],
    ...(reason.trim() === "" ? {} : { reason: reason.trim() }),
    ...(action !== "complete" ? {} : { output: parsed(output ?? "") }),
    ...(choice === undefined ? {} : { choice }),
    ...(text === undefined || text === "" ? {} : { text }),
    ...(step === undefined || step === "" ? {} : { step }),
    ...(hint === undefined || hint.trim() === "" ? {} : { hint: hint.trim() }),
  };
}

/** The key of a request. A key must not be reused for another action or other jobs. */
function keyOf({ action, jobs, choice, step }: Wish, key: string): string {
  return [key, action, hash(JSON.stringify([jobs.map(({ job_id }) => job_id), choice, step]))].join("/");
}

function hash(text: string): string {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) | 0;
  return (sum >>> 0).toString(36);
}

/**
 * Parses JSON or plain text. Text that is almost JSON is refused: later steps could not use it, and it cannot be
 * undone.
 */
function parsed(text: string): unknown {
  if (text.trim() === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal({
      ...{ status: 422, code: "INVALID_INPUT", detail: "The output is not JSON" },
      hint: 'Write a value, such as {"rows": 0}, or a text in quotes.',
    });
  }
}

/** Starts a new run for each; the old ones are not changed. */
async function forkAll(wish: Wish, key: string, dryRun: boolean): Promise<Outcome> {
  const results: Outcome["results"] = [];
  for (const { job_id, run_id, step } of wish.jobs) {
    const place = { job_id, run_id, step, scope: null };
    try {
      await dataOf(
        api.POST("/api/v1/runs/{run_id}/fork", {
          params: { path: { run_id } },
          body: {
            step,
            dry_run: dryRun,
            ...(dryRun ? {} : { key: `${key}/fork/${run_id}` }),
            ...(wish.reason === "" ? {} : { reason: wish.reason }),
          },
        }),
      );
      results.push({ ...place, ok: true, error: null });
    } catch (error) {
      if (!(error instanceof Refusal) || error.status >= 500) throw error;
      results.push({ ...place, ok: false, error: { code: error.code, message: error.message } });
    }
  }
  return { applied: !dryRun, dry_run: dryRun, key, results, runs: [] };
}
