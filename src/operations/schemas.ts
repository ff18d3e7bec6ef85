import { z } from "zod";
import { JOB_CHANGE } from "../core/decide/take-command.js";
import { MAX_HINT_CHARS } from "../core/failure/hint-block.js";
import { MAX_PRIORITY } from "../core/groups/concurrency.js";
import { TOKEN_USAGE_FIELDS } from "../core/model/events.js";
import { ANY_FAILURE } from "../core/model/failure.js";
import { FILES_POLICIES } from "../core/model/files-policy.js";
import { JOB_STATUSES, RUN_STATUSES } from "../core/model/rows.js";
import { labelsProblem } from "../core/text/labels.js";
import { plainText } from "../core/text/plain-text.js";
import type { Fields } from "../core/text/shape.js";
import { MAX_DURATION_MS, parseDuration, parseMemorySize } from "../file/read/amounts.js";
import { PROBLEM } from "../file/read/problem.js";
import { zodFields, zodOf } from "../run/worker/zod-of.js";
import { WAITING_JOB } from "../tell/holds.js";
import { JOB_RECORD } from "../tell/job-record.js";
import type { Answer } from "./operation.js";
import { DEFAULT_REASON } from "./operator-words.js";

/** The record that a shape of another room describes, as a part of answers. */
export const recordOf = <F extends Fields>(fields: F) => z.object(zodFields(fields, { others: "dropped" }));

/** A run by its number, or the newest one that no other run started. */
export const runReference = z
  .union([z.coerce.number().int().positive(), z.literal("last")])
  .describe("A run: its number, or last.");

/** A run whose jobs a new one takes over where nothing has changed. */
export const reuse = z
  .union([z.coerce.number().int().positive(), z.enum(["last_ended", "last"])])
  .describe(
    "Take over unchanged jobs of a run: its number, last, or last_ended (the newest of the workflow, over, held or interrupted).",
  );

/** A job by its id, or by its step in a run. */
export const jobId = z
  .union([z.number().int().positive(), z.string().min(1).max(10_000)])
  .describe("A job: its id, such as 30000002; or with run_id a step, or step@scope.");

export const runOfJob = runReference
  .optional()
  .describe("The run, if job_id names a step: its number, or last.");

/** The number of an event of the run. */
export const at = z.coerce
  .number()
  .int()
  .positive()
  .optional()
  .describe("As the run was after this event: its number, as `events` shows it.");

const MAX_PAGE = 1_000;

const DEFAULT_PAGE = 100;

export const limit = z.coerce
  .number()
  .int()
  .min(1)
  .max(MAX_PAGE)
  .default(DEFAULT_PAGE)
  .describe(`Maximum number of items, up to ${MAX_PAGE}.`);

const MAX_REASON_CHARS = 4_000;

export const reason = z
  .string()
  .max(MAX_REASON_CHARS)
  .default(DEFAULT_REASON)
  .describe("The reason, kept in the log.");

/** The hint for a step that runs again. */
export const hint = z
  .string()
  .min(1)
  .max(MAX_HINT_CHARS)
  .refine((text) => plainText(text).trim() !== "", "must not be empty")
  .optional()
  .describe("Text for the step's next attempts: in the prompt, as $DARUMA_HINT and as failure.hint.");

/** What happens to the workspace's files when a run goes back to a step. */
export const files = z.enum(FILES_POLICIES).optional();

const MAX_KEY_CHARS = 200;

export const key = z
  .string()
  .min(1)
  .max(MAX_KEY_CHARS)
  .optional()
  .describe("A command with the same key is applied only once.");

/** JSON has booleans, a query string only words. */
export const flag = z.union([
  z.boolean(),
  z.enum(["true", "1", "false", "0"]).transform((text) => text === "true" || text === "1"),
]);

export const keepStoodIn = flag
  .default(false)
  .describe("Also what another step stood in for, and its dependents.");

export const dryRun = flag.default(false).describe("Only report what would happen.");

/** Several values, or in a query string one text with commas. */
export function listOf<T extends z.ZodType<unknown, string>>(item: T) {
  const texts = z.string().transform((text) => text.split(","));
  return z.union([z.array(item), texts.pipe(z.array(item))]);
}

const MAX_NAME_CHARS = 200;

export const name = z
  .string()
  .min(1)
  .max(MAX_NAME_CHARS)
  .refine((text) => !/\p{Cc}/u.test(text), "must be on one line, without control characters");

/** What a workflow file may hold. */
const MAX_SOURCE_CHARS = 64 * 1_024 * 1_024;

export const source = z.string().max(MAX_SOURCE_CHARS).describe("A workflow, YAML or JSON text.");

export const fileName = z
  .string()
  .min(1)
  .max(1_024)
  .default("workflow.yaml")
  .describe(
    "The file name to show in problems; without its extension it is the default name of the workflow.",
  );

export const scope = z
  .string()
  .max(10_000)
  .optional()
  .describe("Which branch of a fan-out, such as root/list[2].");

export const step = z.string().min(1).max(10_000).describe("A step's id, step@scope, or a job's id.");

export const runStatus = z.enum(RUN_STATUSES);

/** The phase at the end of an unfinished run. */
export const endPhase = z
  .enum(["undo", "finally"])
  .nullable()
  .describe("What a run that is about to end is at; null: it is not, or is over.");

export const jobStatus = z.enum(JOB_STATUSES);

/** What an interface of ours has beside these fields is handed on as it is. */
function open<T>(shape: z.ZodType<unknown>): z.ZodType<T, T> {
  return shape as z.ZodType<T, T>;
}

/** What the ladder made of one failed attempt. */
export const considered = z.object({
  rung: z.string(),
  applied: z.boolean(),
  kind: z.string().optional().describe("Why, for programs. Older logs have none."),
  reason: z.string(),
});

export const diagnostics = z.array(
  open<{
    readonly job_id: number;
    readonly attempt: number;
    readonly rung: string;
    readonly considered: readonly Answer<typeof considered>[];
  }>(
    z.looseObject({
      job_id: z.number(),
      attempt: z.number(),
      rung: z.string(),
      considered: z.array(considered).describe("Every rung that was looked at, lowest first."),
    }),
  ),
);

export const json: z.ZodType<unknown> = z.unknown().describe("Any JSON value.");

export const variables = z.record(z.string(), json);

/** Labels of a run that is started. */
export const labels = z
  .record(z.string(), z.string())
  .superRefine((given, context) => {
    const problem = labelsProblem(given);
    if (problem !== null) context.addIssue({ code: "custom", message: `must fit: ${problem}` });
  })
  .describe("What to find the run by, besides the workflow's labels.");

export const priority = z.coerce
  .number()
  .int()
  .min(-MAX_PRIORITY)
  .max(MAX_PRIORITY)
  .describe("Higher goes first; default: the workflow's, or 0.");

export const encoding = z
  .enum(["utf8", "base64"])
  .default("utf8")
  .describe("The encoding of `text`; base64 also keeps bytes that are not UTF-8.");

export const jobChange = recordOf(JOB_CHANGE);

/** What one call of a model cost; null where its provider does not say. */
export const tokenUsage = recordOf(TOKEN_USAGE_FIELDS);

export const owner = z.object({ host: z.string(), pid: z.number() }).nullable();

/** Bytes, or text with a unit. */
export const memorySize = z
  .union([z.number().int().positive(), z.string().max(40)])
  .transform((given, context) => {
    const bytes = typeof given === "number" ? given : parseMemorySize(given);
    if (bytes !== null && bytes > 0) return bytes;
    context.addIssue({ code: "custom", message: "must be a size such as 512m or 2g, or a number of bytes" });
    return z.NEVER;
  });

/** Milliseconds, or text with a unit. */
export const duration = z
  .union([z.number().int().positive(), z.string().max(40)])
  .transform((given, context) => {
    const ms = typeof given === "number" ? given : parseDuration(given);
    if (ms !== null && ms > 0 && ms <= MAX_DURATION_MS) return ms;
    context.addIssue({ code: "custom", message: "must be a duration such as 30m or 4h, at most 24 days" });
    return z.NEVER;
  });

/** From what a job had to what it has; memory in bytes, runtime in milliseconds. */
export const raise = z.object({
  resource: z.enum(["memory", "runtime"]),
  from: z.number().nullable(),
  to: z.number(),
});

/** What is wrong with a workflow file. */
export const problem = recordOf(PROBLEM);

/** The record of a failure. */
export const error = zodOf(ANY_FAILURE, { others: "dropped" });
z.globalRegistry.add(error, {
  id: "ErrorRecord",
  description: "A failure. The record is the same wherever it is shown.",
});

/** A job, the same in every answer. */
export const job = recordOf(JOB_RECORD);

export const waitingJob = recordOf(WAITING_JOB);
export const { expiry } = waitingJob.shape;
