import { randomUUID } from "node:crypto";
import { z } from "zod";
import { bookKey } from "../../core/book/book.js";
import { DarumaError } from "../../core/errors/errors.js";
import type { OperatorCommand } from "../../core/model/commands.js";
import type { JobRow } from "../../core/model/rows.js";
import { writtenStep } from "../../core/model/written-step.js";
import { loadRun } from "../../run/engine/load-run.js";
import { findJob } from "../../tell/lookup/choose-job.js";
import { requireRun } from "../../tell/lookup/run-reference.js";
import type { Context } from "../context.js";
import { refuseFiles } from "../controls/plan-control.js";
import { triageFailure } from "../failures/triage-failure.js";
import { decideHolds } from "../jobs/resolve-holds.js";
import { type Answer, operation } from "../operation.js";
import { DEFAULT_REASON, refuseHint, type TypedWords } from "../operator-words.js";
import { changedRun, commandJob, type Said } from "../put-command.js";
import { files, flag, hint, json, key, reason, step } from "../schemas.js";

const MAX_JOBS = 10_000;
const ACTIONS = [
  ...(["retry", "complete", "skip", "fail", "redrive"] as const),
  ...(["resume_from", "hard_reset", "answer", "set_aside"] as const),
] as const;

const TAKES_HINT: readonly (typeof ACTIONS)[number][] = ["retry", "redrive", "resume_from", "hard_reset"];

const input = z.strictObject({
  jobs: z
    .array(z.coerce.number().int().positive())
    .min(1)
    .max(MAX_JOBS)
    .describe("Jobs of problems, by their ids."),
  action: z.enum(ACTIONS).describe("What to do."),
  output: json.optional().describe("The jobs' output, for complete."),
  choice: z.string().min(1).max(1_000).optional().describe("For answer: one of the choices."),
  text: z.string().max(100_000).default("").describe("For answer: a comment."),
  step: step.optional().describe("For resume_from: the step to go back to; default: the failed one."),
  files: files.describe("For resume_from, in a workspace."),
  reason,
  hint: hint.describe("For retry, redrive, resume_from, hard_reset: text for the next attempts."),
  dry_run: flag.default(false).describe("Only report what would happen."),
  key,
});
type Request = z.output<typeof input>;

const result = z.object({
  job_id: z.number(),
  run_id: z.number().nullable(),
  step: z.string().nullable(),
  scope: z.string().nullable(),
  ok: z.boolean(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
});
type Result = Answer<typeof result>;

const decided = z.object({
  applied: z.boolean(),
  dry_run: z.boolean(),
  key: z.string(),
  results: z.array(result),
  runs: z.array(changedRun),
});

export const decideProblems = operation({
  name: "decide_problems",
  summary: "decide the jobs of problems in the inbox, all of them or none",
  description:
    "Decides jobs of `list_problems`, all or none. `retry` runs held and failed jobs again with fresh budgets; `redrive` requeues dead letters; `complete`, `skip` and `fail` decide holds; `answer` answers questions; `resume_from` goes back to a step; `hard_reset` begins in a fresh workspace; `set_aside` leaves a failure out of the inbox until it comes again.",
  details:
    "If one is refused, nothing changes and the error is DECISIONS_REFUSED, whose `results` say which and why. With `dry_run` nothing changes, and the answer says what would happen. `set_aside` marks the failure as resolved in the failure book, for all runs of the workflow.",
  role: "operator",
  effect: "changes",
  input,
  output: decided,
  rest: { method: "POST", path: "/problems/decide" },
  cli: [
    {
      words: "decide",
      positional: ["jobs..."],
      examples: [
        'daruma decide 30000001 40000001 --action retry --reason "the database is back"',
        "daruma decide 30000001 --action set_aside --dry-run",
      ],
    },
  ],
  actsOn: ({ jobs }) => jobs.map((job_id) => ({ job: { job_id, run_id: undefined } })),
  handler: decide,
});

type Decided = Pick<Answer<typeof decided>, "results" | "runs">;

async function decide(context: Context, request: Request) {
  const { key: chosen = randomUUID(), dry_run } = request;
  if (request.action === "answer" && request.choice === undefined)
    throw new DarumaError("INVALID_INPUT", "choice: say which of the choices");
  refuseHint(request.hint, request.action, TAKES_HINT.includes(request.action));
  refuseFiles(request.files, request.action, request.action === "resume_from");
  const found = await findJobs(context, request.jobs);
  const holds: JobRow[] = [];
  for (const job of found) if (await isOfHolds(context, request.action, job, chosen)) holds.push(job);
  const others = found.filter((job) => !holds.includes(job));
  const planned = await decideAll(context, { ...request, key: chosen }, holds, others, true);
  const isRefused = planned.results.some(({ ok }) => !ok);
  if (dry_run) return { applied: false, dry_run, key: chosen, ...planned };
  if (isRefused) throw refused(planned);
  const done = await decideAll(context, { ...request, key: chosen }, holds, others, false);
  if (done.results.some(({ ok }) => !ok)) throw refused(done);
  return { applied: true, dry_run, key: chosen, ...done };
}

/** A key that was taken says what the job was when it was asked first. */
async function isOfHolds(
  { store }: Context,
  action: Request["action"],
  job: JobRow,
  chosen: string,
): Promise<boolean> {
  if (action !== "retry") return action === "complete" || action === "skip" || action === "fail";
  return job.status === "held" || (await loadRun(store, job.run_id)).run.operatorKeys.has(chosen);
}

async function findJobs({ store }: Context, ids: readonly number[]): Promise<JobRow[]> {
  const found: JobRow[] = [];
  for (const job_id of new Set(ids)) found.push(await findJob(store, { job_id, run_id: undefined }));
  return found;
}

type Keyed = Request & { readonly key: string };

async function decideAll(
  context: Context,
  request: Keyed,
  holds: readonly JobRow[],
  others: readonly JobRow[],
  isTrial: boolean,
): Promise<Decided> {
  const answers: Decided[] = [];
  if (holds.length > 0) answers.push(await decideHeld(context, request, holds, isTrial));
  if (request.action === "set_aside") answers.push(await setAside(context, request, others, isTrial));
  else for (const job of others) answers.push(await decideOne(context, request, job, isTrial));
  return { results: answers.flatMap(({ results }) => results), runs: answers.flatMap(({ runs }) => runs) };
}

async function decideHeld(
  context: Context,
  { action, reason: why, hint: words, output, key: chosen }: Keyed,
  jobs: readonly JobRow[],
  isTrial: boolean,
): Promise<Decided> {
  const classifications = jobs.map(({ id }) => ({
    job_id: id,
    action: action as "retry" | "complete" | "skip" | "fail",
    reason: why,
    ...(words === undefined ? {} : { hint: words }),
    ...(output === undefined ? {} : { output }),
  }));
  const { results, runs } = await decideHolds(context, { classifications, dry_run: isTrial, key: chosen });
  return {
    results: results.map(({ job_id, run_id, step: name, scope, ok, error }) => ({
      ...{ job_id: Number(job_id), run_id, step: name, scope, ok, error },
    })),
    runs,
  };
}

async function decideOne(context: Context, request: Keyed, job: JobRow, isTrial: boolean): Promise<Decided> {
  const { id: job_id, run_id, step: name, scope } = job;
  const place = { job_id, run_id, step: name, scope };
  const { reason: why, hint: words } = request;
  const asked = { job_id, reason: why, hint: words, key: `${request.key}/${job_id}`, dry_run: isTrial };
  try {
    const done = await commandJob(context, asked, (_, ...said) => commandFor(context, request, job, ...said));
    const { before, status, changed, owner } = done;
    return {
      results: [{ ...place, ok: true, error: null }],
      runs: [{ run_id, before, status, changed, owner }],
    };
  } catch (error) {
    return { results: [{ ...place, ok: false, error: refusalIn(error) }], runs: [] };
  }
}

async function commandFor(
  { store }: Context,
  request: Keyed,
  job: JobRow,
  said: Said,
  words: TypedWords,
): Promise<OperatorCommand> {
  const of = { job: job.id, ...said };
  switch (request.action) {
    case "redrive":
      return { type: "step.redrive", ...of };
    case "hard_reset":
      return { type: "step.hard_reset", ...of, force: false };
    case "resume_from": {
      const { id } =
        request.step === undefined
          ? job
          : await findJob(store, { run_id: job.run_id, job_id: request.step, scope: undefined });
      const policy = request.files === undefined ? {} : { files: request.files };
      return { type: "step.resume_from", ...of, ...policy, job: id, force: false };
    }
    case "answer": {
      const text = words.redact(request.text);
      return { type: "human.answer", ...of, choice: request.choice!, text };
    }
    default:
      return { type: "step.retry", ...of, force: false };
  }
}

/** Once for each failure, whatever runs have met it. */
async function setAside(
  context: Context,
  { reason: why }: Keyed,
  jobs: readonly JobRow[],
  isTrial: boolean,
): Promise<Decided> {
  const done = new Set<string>();
  const results: Result[] = [];
  for (const { id: job_id, run_id, step: name, family, scope, status, error } of jobs) {
    const place = { job_id, run_id, step: name, scope };
    const { workflow } = await requireRun(context.store, run_id);
    const signature = error?.signature;
    if (status !== "failed" || signature === undefined) {
      const message = `${name} of run ${run_id} waits for a decision: it cannot be set aside`;
      results.push({ ...place, ok: false, error: { code: "NOT_RETRYABLE", message } });
      continue;
    }
    const step = writtenStep({ step: name, family });
    const failure = bookKey({ workflow, step, signature });
    if (!isTrial && !done.has(failure)) {
      const note = why === DEFAULT_REASON ? {} : { note: why };
      await triageFailure.handler(context, { action: "resolve", signature, workflow, step, ...note });
    }
    done.add(failure);
    results.push({ ...place, ok: true, error: null });
  }
  return { results, runs: [] };
}

/** What is no refusal is nothing that the caller could do otherwise. */
function refusalIn(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof DarumaError) || error.code === "STORE_FAILED") throw error;
  return { code: error.code, message: error.message };
}

const MAX_TOLD = 5;

function refused({ results }: Decided): DarumaError {
  const bad = results.filter(({ ok }) => !ok);
  const whys = bad
    .slice(0, MAX_TOLD)
    .map(({ job_id, error }) => `job ${job_id}: ${error!.message} (${error!.code})`);
  if (bad.length > whys.length) whys.push(`and ${bad.length - whys.length} more`);
  const which = `${bad.length} of ${results.length} decisions ${bad.length === 1 ? "is" : "are"} refused`;
  return new DarumaError("DECISIONS_REFUSED", `${which}: ${whys.join("; ")}`, { details: { results } });
}
