import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import type { RunRow } from "../../core/model/rows.js";
import type { Json } from "../../core/text/json.js";
import type { Store } from "../../store/store.js";
import {
  CHANGED_STEP,
  compareDefinitions,
  compareInputs,
  compareOutcomes,
  compareTimes,
  DIFFERENT_JOB,
  readTimes,
  STEP_TIME,
} from "../../tell/compare-runs.js";
import { requireRun, resolveRun } from "../../tell/lookup/run-reference.js";
import { timesOf } from "../../tell/run-report.js";
import type { Context } from "../context.js";
import { getJobLogs } from "../jobs/get-job-logs.js";
import { operation } from "../operation.js";
import { definitionOf, redactorOf } from "../operator-words.js";
import { json, recordOf, runReference, runStatus } from "../schemas.js";

const MAX_STEPS = 100;
const MAX_JOBS = 100;
const LOG_TAIL_BYTES = 4_096;
const MAX_LOG_LINES = 20;

const compared = z.object({
  run_id: z.number(),
  workflow: z.string(),
  status: runStatus,
  created_at: z.string(),
  duration_ms: z.number().nullable(),
});
const log = z
  .object({ job_id: z.number(), attempt: z.number(), stream: z.string(), lines: z.array(z.string()) })
  .nullable()
  .describe("The last lines; null: no attempt.");

export const compareRuns = operation({
  name: "compare_runs",
  summary: "compare a run with another, by default the last completed one",
  description:
    "Compares a run with another one, by default the last completed run of its workflow before it: what differs in definition, inputs, times and outcomes, and the ends of the logs of the first job that ended otherwise.",
  role: "viewer",
  effect: "reads",
  audience: "people",
  input: z.strictObject({
    run_id: runReference,
    other: runReference.optional().describe("The run to compare with: its number, or last."),
  }),
  output: z.object({
    run: compared,
    other: compared,
    definition: z.object({
      keys: z.array(z.string()).describe("Keys of the workflow that differ, besides steps."),
      steps: z.array(recordOf(CHANGED_STEP)),
      left_off: z.number(),
    }),
    inputs: z.array(z.object({ name: z.string(), run: json, other: json })),
    secrets: z.array(z.string()).describe("Names that only one of the two declares."),
    times: z
      .array(recordOf(STEP_TIME))
      .describe("Of all attempts of a step together; those that differ most first."),
    outcomes: z.object({
      jobs: z
        .array(recordOf(DIFFERENT_JOB))
        .describe("Jobs that ended otherwise, in the order in which they began in the run."),
      left_off: z.number(),
    }),
    logs: z
      .object({ run: log, other: log })
      .nullable()
      .describe("Of the first of these jobs; null: there is none."),
  }),
  rest: { method: "GET", path: "/runs/{run_id}/comparison" },
  cli: [
    {
      words: "compare",
      positional: ["run_id", "[other]"],
      examples: ["daruma compare last", "daruma compare 7 3 --json"],
    },
  ],
  handler: async (context, { run_id, other }) => {
    const { store } = context;
    const run = await requireRun(store, await resolveRun(store, run_id));
    const against =
      other === undefined
        ? await lastGood(store, run)
        : await requireRun(store, await resolveRun(store, other));
    return compare(context, run, against);
  },
});

async function lastGood(store: Store, { id, workflow }: RunRow): Promise<RunRow> {
  const [good] = await store.listRuns({ workflow, status: ["completed"], beforeId: id, limit: 1 });
  if (good !== undefined) return good;
  throw new DarumaError("INVALID_INPUT", `no run of ${workflow} completed before run ${id}`, {
    hint: "Name the run to compare it with.",
  });
}

async function compare(context: Context, run: RunRow, other: RunRow) {
  const { store } = context;
  const [now, before] = [await definitionOf(store, run.id), await definitionOf(store, other.id)];
  if (now === null || before === null)
    throw new DarumaError("STORE_FAILED", `a definition is missing from the store`);
  const { keys, steps } = compareDefinitions(before, now);
  const redactor = redactorOf([...now.secrets, ...before.secrets]);
  const shown = (value: Json): Json => redactor.redactJson(value);
  const [times, otherTimes] = [await readTimes(store, run.id), await readTimes(store, other.id)];
  const outcomes = compareOutcomes(times, otherTimes);
  const [first] = outcomes;
  const onlyOne = (names: readonly string[], others: readonly string[]): string[] =>
    names.filter((name) => !others.includes(name));
  return {
    run: summaryOf(run),
    other: summaryOf(other),
    definition: {
      keys,
      steps: steps.slice(0, MAX_STEPS),
      left_off: Math.max(0, steps.length - MAX_STEPS),
    },
    inputs: compareInputs(run.inputs, other.inputs).map((input) => ({
      ...{ name: input.name, run: shown(input.run), other: shown(input.other) },
    })),
    secrets: [...onlyOne(now.secrets, before.secrets), ...onlyOne(before.secrets, now.secrets)],
    times: compareTimes(times, otherTimes).slice(0, MAX_STEPS),
    outcomes: { jobs: outcomes.slice(0, MAX_JOBS), left_off: Math.max(0, outcomes.length - MAX_JOBS) },
    logs:
      first === undefined
        ? null
        : {
            run: await endOfLog(context, first.run?.job_id),
            other: await endOfLog(context, first.other?.job_id),
          },
  };
}

function summaryOf(run: RunRow) {
  const { created_at, duration_ms } = timesOf(run);
  return { run_id: run.id, workflow: run.workflow, status: run.status, created_at, duration_ms };
}

async function endOfLog(context: Context, jobId: number | undefined) {
  if (jobId === undefined) return null;
  try {
    const request = getJobLogs.input.parse({ job_id: jobId, tail_bytes: LOG_TAIL_BYTES });
    const { attempt, stream, text } = await getJobLogs.handler(context, request);
    const lines = text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    return { job_id: jobId, attempt, stream, lines: lines.slice(-MAX_LOG_LINES) };
  } catch (error) {
    // It never began, or its log is gone.
    if (error instanceof DarumaError) return null;
    throw error;
  }
}
