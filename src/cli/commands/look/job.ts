import { DarumaError } from "../../../core/errors/errors.js";
import { jobStatusWord } from "../../../core/model/job-status-word.js";
import { oneLine } from "../../../core/text/plain-text.js";
import type { Client, InputOf, OutputOf } from "../../../operations/client.js";
import { nameOf } from "../../../report/lookup/job-name.js";
import { jobPlace } from "../../declare/job-words.js";
import type { Present } from "../../declare/presenter.js";
import { isServersRun } from "../../remote/who-goes-on.js";
import { clockTime } from "../../render/clock-time.js";
import { JOB_COLOURS } from "../../render/summary.js";
import { tableLines } from "../../render/table.js";
import { goingOn } from "../../tell-change.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";

const INDENT = "  ";

/** One job: what became of it, and every attempt. */
export const showJob: Present = async ({ args }, { out, options }, client) => {
  const job = await client.call("get_job", jobPlace(args[0] as string[]));
  if (options.json) writeJson(out, job);
  else writeLines(out, jobLines(job, { out }));
  return 0;
};

/** `ready` or `failed`: a hold is decided. */
export const setJob: Present = async ({ args, input }, session, client) => {
  const words = args[0] as string[];
  const status = chosenStatus(words.at(-1)!);
  const request = { ...input, ...jobPlace(words.slice(0, -1)), status } as InputOf<"update_job">;
  const job = await client.call("update_job", request);
  const { out, options } = session;
  if (options.json) writeJson(out, job);
  else if (!options.quiet) {
    const what = status === "ready" ? "runs again with fresh budgets" : "fails";
    writeLines(out, [
      `job ${job.id}, ${nameOf(job.step, job.scope)} of run ${job.run_id}, ${what}; it is ${job.status} now`,
      ...(await nextLines(session, client, job.run_id)),
    ]);
  }
  return 0;
};

export const retryJob: Present = async ({ args, input }, session, client) => {
  const request = { ...input, ...jobPlace(args[0] as string[]) } as InputOf<"retry_job">;
  // Over REST the run stands in the path.
  const { id, run_id } = await client.call("get_job", jobPlace(args[0] as string[]));
  const job = await client.call("retry_job", { ...request, job_id: id, run_id });
  const { out, options } = session;
  if (options.json) writeJson(out, job);
  else if (!options.quiet)
    writeLines(out, [
      `job ${job.id}, ${job.name}, is ${job.status}: attempt ${job.attempt_id} comes next`,
      ...(await nextLines(session, client, run_id)),
    ]);
  return 0;
};

function chosenStatus(word: string): "ready" | "failed" {
  if (word === "ready" || word === "failed") return word;
  throw new DarumaError("USAGE", `invalid status ${word}: a job can be set to ready or failed`, {
    hint: "See `daruma job set --help`.",
  });
}

/** What becomes of the run now. */
async function nextLines({ options }: Session, client: Client, runId: number): Promise<string[]> {
  const { status } = await client.call("get_run", { run_id: runId });
  const isServers = await isServersRun(client, options, runId);
  return goingOn({ run_id: runId, status, before: "", owner: null }, { options, isServers });
}

function jobLines(job: OutputOf<"get_job">, { out }: Pick<Session, "out">): string[] {
  const { id, run_id, step, scope, status, attempt_history, error, output, due_at, handled } = job;
  const lines = [
    `job ${id}, ${nameOf(step, scope)} of run ${run_id}: ${out.paint(JOB_COLOURS[status], jobStatusWord(status))}${handled ? " (handled)" : ""}`,
  ];
  if (due_at !== null) lines.push(`${INDENT}due: ${due_at}`);
  if (error !== null) lines.push(`${INDENT}error: ${oneLine(`${error.code}: ${error.message}`)}`);
  if (output !== null && output !== undefined) lines.push(`${INDENT}output: ${oneLine(textOf(output))}`);
  if (attempt_history.length === 0) return [...lines, `${INDENT}no attempts yet`];
  return [
    ...lines,
    ...attemptTable(attempt_history, out.width() - INDENT.length).map((line) => INDENT + line),
  ];
}

function attemptTable(attempts: OutputOf<"get_job">["attempt_history"], width: number): string[] {
  const rows = attempts.map(({ attempt, status, worker, started_at, finished_at, error }) => [
    String(attempt),
    status,
    worker,
    clockTime(started_at),
    clockTime(finished_at),
    error === null ? "" : oneLine(`${error.code}: ${error.message}`),
  ]);
  return tableLines(["attempt", "status", "worker", "started (UTC)", "ended (UTC)", "error"], rows, width);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
