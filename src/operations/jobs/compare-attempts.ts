import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import type { AttemptRow, JobRow } from "../../core/model/rows.js";
import { zodOf } from "../../run/worker/zod-of.js";
import {
  ATTEMPT_FACT,
  attemptFacts,
  compareErrors,
  compareTexts,
  DIFF_ROW,
  type NamedText,
  type TextEnd,
  VERDICTS,
} from "../../tell/compare-attempts.js";
import { findJob } from "../../tell/lookup/choose-job.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { jobId, recordOf, runOfJob } from "../schemas.js";
import { NEWLINE, readAt, withLines } from "./log-lines/line-index.js";
import { textsOfAttempt } from "./read-logs.js";

/** The last lines of a file, with their numbers in it. */
interface FileEnd extends TextEnd {
  readonly total: number;
  readonly isWhole: boolean;
}

const EMPTY: FileEnd = { lines: [], firstLine: 1, total: 0, isWhole: true };

async function readEnd(path: string, maxBytes: number): Promise<FileEnd> {
  for (;;) {
    const found = await withLines(path, async ({ file, size, facts }): Promise<FileEnd | null> => {
      // A very long file is read in parts, and only then are its lines counted.
      if (!facts.complete) return null;
      const from = Math.max(0, size - maxBytes);
      const bytes = await readAt(file, from, size - from);
      const begins = from === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
      const lines = bytes.toString("utf8", begins).split("\n");
      if (lines.at(-1) === "") lines.pop();
      return { lines, firstLine: facts.total - lines.length + 1, total: facts.total, isWhole: from === 0 };
    });
    if (found !== null) return found;
    if ((await withLines(path, async () => true)) === null) return EMPTY;
  }
}

/** How much of each text's end is compared. The answer says if something was left out. */
const COMPARED_BYTES = 128 * 1_024;

const scalar = z.union([z.string(), z.number(), z.boolean()]).nullable();
const input = z.strictObject({
  job_id: jobId,
  run_id: runOfJob,
  attempt: z.coerce.number().int().min(1).optional().describe("An attempt; by default the last."),
  other: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe("The attempt to compare it with; by default the one before it."),
});
type CompareRequest = z.output<typeof input>;

export const compareAttempts = operation({
  name: "compare_attempts",
  summary: "compare two attempts of a job: what is the same, and what differs",
  description:
    "Compares two attempts of a job, by default the last with the one before it: error records, changed files, and line by line what they printed and what they were told.",
  details:
    "`facts` says first what is the same. Times, ids, paths and the like are `masked`: they do not count as differences. Of a long text only the last 128 KB are compared; `whole` is false then.",
  role: "viewer",
  effect: "reads",
  audience: "people",
  input,
  output: z.object({
    job_id: z.number(),
    run_id: z.number(),
    step: z.string(),
    scope: z.string(),
    attempt: z.number(),
    other: z.number(),
    facts: z.array(recordOf(ATTEMPT_FACT)),
    fields: z
      .array(z.object({ name: z.string(), value: scalar, other: scalar, same: z.boolean() }))
      .describe("The error records side by side."),
    texts: z.array(
      z.object({
        name: z.string(),
        verdict: z.enum(VERDICTS),
        changed: z.number(),
        lines: z.number(),
        other_lines: z.number(),
        whole: z.boolean().describe("False: only the ends are compared."),
        rows: z.array(zodOf(DIFF_ROW, { others: "dropped" })),
        left_off: z.number(),
      }),
    ),
  }),
  rest: { method: "GET", path: "/jobs/{job_id}/comparison" },
  cli: [
    {
      words: "job compare",
      positional: [],
      examples: ["daruma job compare last build", "daruma job compare 3 build --attempt 5 --other 2"],
    },
  ],
  handler: compare,
});

async function compare(context: Context, request: CompareRequest) {
  const job = await findJob(context.store, request);
  const attempts = (await context.store.readAttempts(job.run_id, job.id)).sort(
    (one, other) => one.attempt - other.attempt,
  );
  const one = choose(attempts, request.attempt ?? attempts.at(-1)?.attempt, job.step);
  const other = choose(attempts, request.other ?? attempts.findLast(isBefore(one))?.attempt, job.step);
  const [error, before] = [errorOf(one), errorOf(other)];
  const texts = await compareFiles(context, job, one.attempt, other.attempt);
  return {
    job_id: job.id,
    run_id: job.run_id,
    step: job.step,
    scope: job.scope,
    attempt: one.attempt,
    other: other.attempt,
    facts: attemptFacts(error, before, texts),
    fields: compareErrors(error, before),
    texts,
  };
}

const isBefore =
  ({ attempt }: AttemptRow) =>
  (row: AttemptRow): boolean =>
    row.attempt < attempt;

function choose(attempts: readonly AttemptRow[], wanted: number | undefined, step: string): AttemptRow {
  const found = attempts.find(({ attempt }) => attempt === wanted);
  if (found !== undefined) return found;
  const last = attempts.at(-1)?.attempt ?? 0;
  throw new DarumaError(
    "ATTEMPT_NOT_FOUND",
    wanted === undefined ? `${step} has no two attempts to compare` : `${step} has no attempt ${wanted}`,
    { hint: last === 0 ? "It has not run." : `Its attempts: 1 to ${last}.` },
  );
}

function errorOf({ error }: AttemptRow) {
  return error;
}

async function compareFiles(
  context: Context,
  job: JobRow,
  attempt: number,
  other: number,
): Promise<(NamedText & { readonly whole: boolean })[]> {
  const texts: (NamedText & { readonly whole: boolean })[] = [];
  const [files, others] = [
    await textsOfAttempt(context.store, context.outputDir, job, attempt),
    await textsOfAttempt(context.store, context.outputDir, job, other),
  ];
  for (const [place, { name, file }] of files.entries()) {
    const [end, otherEnd] = [
      await readEnd(file, COMPARED_BYTES),
      await readEnd(others[place]!.file, COMPARED_BYTES),
    ];
    // Only agents and models have a prompt; few steps are the target of a failure.
    if (end.total + otherEnd.total === 0 && name !== "stdout" && name !== "stderr") continue;
    // A prompt has it in itself.
    if (name === "context" && texts.some((text) => text.name === "prompt")) continue;
    const whole = end.isWhole && otherEnd.isWhole;
    texts.push({
      name,
      lines: end.total,
      other_lines: otherEnd.total,
      whole,
      ...compareTexts(end, otherEnd),
    });
  }
  return texts;
}
