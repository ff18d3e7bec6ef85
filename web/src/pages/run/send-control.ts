import { api, dataOf, Problem } from "../../api/client.js";
import { count } from "../../words/status.js";
import { decide, type Outcome } from "../inbox/actions.js";
import type { Action, ControlWords } from "./control-words.js";

export interface Request {
  readonly runId: number;
  readonly action: Action;
  /** The name of the job that the action applies to: `build`, `visit@cities[1]`. */
  readonly step: string | null;
  /** The id of that job, for a decision. */
  readonly job: number | null;
  /** The output for complete, as it was typed. */
  readonly output: string;
  readonly force: boolean;
  readonly reason: string;
  /** For the step that is to work again. */
  readonly hint: string;
  /** Made when the panel opens, so that a repeated request takes effect only once. */
  readonly key: string;
}

/** The result, or a prediction: lines to read, and where to go on. */
export interface Answer {
  readonly lines: readonly string[];
  /** The run that a fork has started. */
  readonly started: number | null;
}

const MAX_CHANGES = 8;

export async function sendControl(request: Request, dryRun: boolean): Promise<Answer> {
  const { runId, action, step, force, reason, hint, key } = request;
  if (isDecision(action)) return sendDecision({ ...request, action }, dryRun);
  const path = { run_id: runId };
  const said = { ...(reason.trim() === "" ? {} : { reason: reason.trim() }), dry_run: dryRun };
  if (action === "fork") {
    const body = { step: stepOf(step!), ...said, ...(dryRun ? {} : { key }) };
    const answer = await dataOf(api.POST("/api/v1/runs/{run_id}/fork", { params: { path }, body }));
    const { plan, run_id } = answer;
    if (plan === null) return { lines: [], started: run_id };
    return {
      started: null,
      lines: [
        `${count(plan.taken_over, "completed job")} taken over`,
        `runs ${count(plan.steps.length, "step")}: ${listed(plan.steps)}`,
      ],
    };
  }
  const done = action === "cancel_now" ? ({ action: "cancel", now: true } as const) : ({ action } as const);
  const body = {
    ...done,
    ...said,
    key: dryRun ? `${key}/preview` : key,
    ...onStep(step, force),
    ...told(hint),
  };
  const answer = await dataOf(api.POST("/api/v1/runs/{run_id}/control", { params: { path }, body }));
  return { lines: linesOf(runId, answer), started: null };
}

type Decision = "redrive" | "complete" | "skip" | "fail";
const DECISIONS: readonly Action[] = ["redrive", "complete", "skip", "fail"];

function isDecision(action: Action): action is Decision {
  return DECISIONS.includes(action);
}

/** Decides one job of the inbox from the job's own page. */
async function sendDecision(
  { runId, action, job, step, output, reason, hint, key }: Request & { readonly action: Decision },
  dryRun: boolean,
): Promise<Answer> {
  const wish = { action, reason, jobs: [{ job_id: job!, run_id: runId, step: stepOf(step!) }] };
  const given = action === "complete" ? { output } : { hint };
  const { results, runs } = await decide({ ...wish, ...given }, key, dryRun);
  const refused = results.find(({ ok }) => !ok)?.error;
  if (refused != null) throw new Problem({ status: 422, title: refused.message, code: refused.code });
  return { lines: runs.flatMap((run) => linesOf(runId, run)), started: null };
}

type Changed = Pick<Outcome["runs"][number], "changed" | "before" | "status">;

function linesOf(runId: number, { changed, before, status }: Changed): string[] {
  const lines = changed
    .slice(0, MAX_CHANGES)
    .map(({ step: name, from, to }) => `${name}: ${from === null ? "new" : from} → ${to}`);
  if (changed.length > MAX_CHANGES) lines.push(`and ${changed.length - MAX_CHANGES} more`);
  if (before !== status) lines.push(`run ${runId}: ${before} → ${status}`);
  return lines;
}

function onStep(step: string | null, force: boolean): { step_id?: string; force?: boolean } {
  return step === null ? {} : { step_id: step, force };
}

function told(hint: string): { hint?: string } {
  return hint.trim() === "" ? {} : { hint: hint.trim() };
}

/** The step's name without its branch, because a fork begins at a step. */
function stepOf(name: string): string {
  return name.split("@", 1)[0]!;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_CHANGES).join(", ");
  return names.length > MAX_CHANGES ? `${shown} and ${names.length - MAX_CHANGES} more` : shown;
}

/** A takeover is about a step only where it brings a hint for it. */
export function isAbout(
  { onStep: isOnStep, takesHint }: ControlWords,
  step: string | null,
  hint: string,
): string | null {
  return isOnStep || (takesHint === true && hint.trim() !== "") ? step : null;
}
