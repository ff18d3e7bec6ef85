import { runCli } from "./cli.js";

export interface ShownJob {
  readonly id: number;
  readonly step: string;
  readonly scope: string;
  readonly status: string;
  readonly output: unknown;
}

export interface LoggedLine {
  readonly seq: number;
  readonly at: unknown;
  readonly type: string;
  readonly [key: string]: unknown;
}

/** A finished `daruma run FILE --json` with its log, read back through the command line. */
export interface RecordedRun {
  readonly exitCode: number | null;
  readonly stderr: string;
  readonly runId: number;
  readonly status: string;
  readonly jobs: readonly ShownJob[];
  readonly routes: readonly { readonly step: string; readonly rung: string; readonly to: string }[];
  readonly events: readonly LoggedLine[];
}

export async function runAndRead(
  file: string,
  outputDir: string,
  args: readonly string[] = [],
): Promise<RecordedRun> {
  const folder = ["--output-dir", outputDir];
  const run = await runCli(["run", file, "--json", ...folder, ...args]);
  const result = parse(run.stdout, run.stderr);
  const log = await runCli(["events", String(result.run_id), "--json", ...folder]);
  return {
    exitCode: run.exitCode,
    stderr: run.stderr,
    runId: result.run_id,
    status: result.status,
    jobs: result.jobs,
    routes: result.routes,
    events: log.stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as LoggedLine),
  };
}

interface JsonResult {
  readonly run_id: number;
  readonly status: string;
  readonly jobs: readonly ShownJob[];
  readonly routes: RecordedRun["routes"];
}

function parse(stdout: string, stderr: string): JsonResult {
  try {
    return JSON.parse(stdout) as JsonResult;
  } catch {
    throw new Error(`no JSON on stdout:\n${stdout}\n${stderr}`);
  }
}

/** `step`, or `step@list[1]` for the job of a branch. */
export function nameJob(job: ShownJob): string {
  return job.scope === "root" ? job.step : `${job.step}@${job.scope.replace(/^root\//, "")}`;
}

/** The names of the jobs in the order in which their attempts started. */
export function listAttempts(run: RecordedRun): string[] {
  const names = new Map(run.jobs.map((job) => [job.id, nameJob(job)]));
  return run.events
    .filter((event) => event.type === "attempt.started")
    .map((event) => names.get(event.job as number) ?? `unknown job ${String(event.job)}`);
}

export function statusOfJobs(run: RecordedRun): Record<string, string> {
  return Object.fromEntries(run.jobs.map((job) => [nameJob(job), job.status]));
}
