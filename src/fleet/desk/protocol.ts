import { z } from "zod";
import { bytesOf, MAX_USER_DATA_BYTES, type UserData } from "../../core/model/batch/user-data.js";
import type { FileFacts } from "../../core/model/events.js";
import { OUTCOME } from "../../core/model/outcome.js";
import { HUMAN, LOCAL_WORKER_PREFIX } from "../../core/model/worker-names.js";
import { isDeeperThan, MAX_JSON_LEVELS } from "../../core/text/json.js";
import { flag, nullable, type Of, type OfFields, object, text, word } from "../../core/text/shape.js";
import { zodOf } from "../../run/worker/zod-of.js";
import type { Assignment } from "../../run/worker.js";

/** How long a server keeps a claim open for which it has nothing. */
export const CLAIM_WAIT_MS = 25_000;
/**
 * How long a worker without a sign of life keeps its attempts. A network failure of a minute must not lose anything.
 */
export const DEFAULT_ATTEMPT_LEASE_MS = 90_000;
const MAX_HEARTBEAT_MS = 10_000;
const MAX_KILL_MARGIN_MS = 15_000;

/** Limit for a log's bytes in one message. */
export const MAX_LOG_CHUNK_BYTES = 1024 * 1024;
/** Limit for the end of a log within a report. */
export const MAX_REPORTED_LOG_BYTES = 64 * 1024;
/** As much as a step may write to $DARUMA_OUTPUT, and what JSON adds to it. */
export const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** Limit for a message with reports. */
export const MAX_REPORTS_BYTES = 32 * 1024 * 1024;
export const MAX_REPORTS = 100;
const MAX_HELD = 10_000;
/** Limit for one heartbeat. Others follow with the next one. */
export const MAX_RUNS_MENTIONED = 100;
const MAX_NAME_CHARS = 100;
const MAX_PLACE_CHARS = 200;
/** The limit of stores, which use 32 bits. */
const MAX_RESTARTS = 2_147_483_647;
const MAX_TAGS = 100;
/** Limit for questions about secrets and programs in one answer. Others follow. */
export const MAX_ASKED = 500;
const MAX_SUMMARY_CHARS = 20_000;
const MAX_TEXT_CHARS = 32 * 1024;
const MAX_SLOTS = 100_000;
const MAX_GPUS = 10_000;

/**
 * The interval of heartbeats, at least three per lease. A whole number of milliseconds, because some timers require it.
 */
export function heartbeatMs(leaseMs: number): number {
  return Math.min(Math.floor(leaseMs / 3), MAX_HEARTBEAT_MS);
}

/** How long before the server gives attempts to another worker one that cannot renew them must end them. */
export function killMarginMs(leaseMs: number): number {
  return Math.min(Math.floor(leaseMs / 6), MAX_KILL_MARGIN_MS);
}

const token = z.string().min(1).max(200);
const name = z
  .string()
  .max(MAX_NAME_CHARS)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "letters, digits, dots, dashes and underscores")
  .refine((text) => !text.startsWith(LOCAL_WORKER_PREFIX) && text !== HUMAN, "this name is taken");
const words = z.array(z.string().min(1).max(MAX_NAME_CHARS)).max(MAX_TAGS);
const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** A name in records, tables and on terminals. */
export const placeName = z
  .string()
  .max(MAX_PLACE_CHARS)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]*$/, "letters, digits, dots, dashes, colons and underscores");
export const allocationName = z
  .string()
  .max(MAX_PLACE_CHARS)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9][A-Za-z0-9._[\]-]*$/, "CLUSTER/ID");
const restarts = z.number().int().min(0).max(MAX_RESTARTS);

/** An attempt or a recovery script in a worker's messages. */
const held = z.strictObject({ job: count, attempt: count, recovery: z.boolean(), token });
export type Held = z.infer<typeof held>;

export const registration = z.strictObject({
  /** Identifies the worker process, also when it registers again. */
  instance: z.string().regex(/^[0-9a-f-]{8,64}$/),
  name,
  slots: z.number().int().min(1).max(MAX_SLOTS),
  cpus: z.number().min(0).max(MAX_SLOTS),
  memory_bytes: count,
  /** By default none. */
  gpus: z.number().int().min(0).max(MAX_GPUS).optional(),
  /** The number of machines in its allocation, all of which it stands for. By default one. */
  nodes: z.number().int().min(1).max(MAX_SLOTS).optional(),
  tags: words,
  actions: words,
  /** Whether it has a bash. By default no. */
  bash: z.boolean().optional(),
  /** The machine that it runs on. */
  node: placeName.nullish(),
  /** What a scheduler gave it, and how often that was started again. */
  allocation: allocationName.nullish(),
  restart: restarts.nullish(),
  /**
   * The time after which it takes no more work. Without it, it stays. It is a duration because the clocks of two
   * machines differ.
   */
  ends_in_ms: count.nullish(),
  /** What it holds: running attempts, and ended ones that were not accepted yet. */
  attempts: z.array(held).max(MAX_HELD),
  /** It takes nothing new. */
  draining: z.boolean().optional(),
});
export type Registration = z.infer<typeof registration>;

export interface Registered {
  readonly worker_id: string;
  /** Valid until the worker registers again. Work is only given out within it. */
  readonly session: string;
  readonly lease_ms: number;
  readonly heartbeat_ms: number;
  readonly kill_margin_ms: number;
}

/**
 * What a server knows about the attempts that a worker holds. One that is not mentioned is unknown there, and not
 * renewed.
 */
export interface Verdict {
  readonly renewed: readonly string[];
  /** Nobody wants these any more: end them and report. */
  readonly stop: readonly string[];
  /** Somebody else has these by now: end them and forget them. */
  readonly lost: readonly string[];
}

/**
 * The session of the last registration. A worker that missed an answer registers again with what it holds. What it was
 * given but does not hold is then given to it again, and answers that are still on their way to it count for nothing.
 */
const session = z.string().min(1).max(MAX_NAME_CHARS);

export const claim = z.strictObject({
  session,
  /** Whether it has what the last answer asked about. */
  answers: z
    .record(z.string().max(MAX_TEXT_CHARS), z.boolean())
    .refine((answers) => Object.keys(answers).length <= MAX_ASKED, "too many answers")
    .optional(),
  wait_ms: z.number().int().min(0).max(CLAIM_WAIT_MS).default(CLAIM_WAIT_MS),
});
export type Claim = z.input<typeof claim>;

export const heartbeat = z.strictObject({
  attempts: z.array(held).max(MAX_HELD),
  /** It takes nothing new. */
  draining: z.boolean(),
  /** Runs of which it has folders but no work. */
  runs: z.array(count).max(MAX_RUNS_MENTIONED).optional(),
});
export type Heartbeat = z.infer<typeof heartbeat>;

/** The work for a worker. */
export interface ClaimAnswer {
  readonly assignments: readonly Assignment[];
  readonly stop: readonly string[];
  /** Secrets and programs by name. The next claim must say whether the worker has them. */
  readonly asks?: readonly string[];
}

/** What people want of a run: the live-control document. */
export const LIVE_CONTROL = {
  /** Nothing new is started in it. */
  paused: flag,
  takeover: flag,
  /** The last action that somebody requested for one step; the time in ISO 8601. */
  recovery: nullable(
    object({
      action: word(["retry_step", "hard_reset_step", "resume_from_step", "redrive"]),
      step_id: text,
      updated_at: text,
    }),
  ),
} as const;
export type LiveControl = OfFields<typeof LIVE_CONTROL>;

export interface HeartbeatAnswer extends Verdict {
  /** Those of the mentioned runs that are certainly over, so that their folders are no longer needed. */
  readonly over: readonly number[];
  /** By run, for all runs of the attempts that the worker holds. */
  readonly control: { readonly [runId: string]: { readonly live_control: LiveControl } };
}

/** Checks further limits beyond the shape, because a worker may send anything and it goes on record. */
function isWithinBounds(outcome: Of<typeof OUTCOME>): boolean {
  const { duration_ms = 0, used = {} } = outcome;
  if (duration_ms < 0 || !areCounts(used)) return false;
  if (outcome.kind !== "succeeded") return true;
  const { usage = {}, files = [], user_data = {} } = outcome;
  return areCounts(usage) && files.every(isFile) && isUserData(user_data);
}

function areCounts(amounts: object): boolean {
  return Object.values(amounts).every((each) => typeof each !== "number" || count.safeParse(each).success);
}

function isFile({ bytes, sha256 }: FileFacts): boolean {
  return areCounts({ bytes }) && (sha256 === null || /^[0-9a-f]{64}$/.test(sha256));
}

/** Checks the size of user data. Data that is nested too deeply cannot be measured. */
function isUserData(written: UserData): boolean {
  return !isDeeperThan(written, MAX_JSON_LEVELS) && bytesOf(written) <= MAX_USER_DATA_BYTES;
}

/** Fields that only the server can know are dropped. */
const outcome = zodOf(OUTCOME, { others: "dropped", maxChars: MAX_TEXT_CHARS }).refine(
  isWithinBounds,
  "numbers that nobody counts, or too much user data",
);

/** `usage`: samples of the processes' resource use, for attempts that want them. */
export const stream = z.enum(["stdout", "stderr", "usage"]);
export type Stream = z.infer<typeof stream>;

/** An outcome that is being sent: its attempt, and what the server does not have yet. */
const sentOutcome = held.extend({
  outcome,
  /** The ends of its logs. Earlier parts have been sent. */
  logs: z
    .array(
      z.strictObject({
        stream,
        offset: count,
        data: z.base64().max(Math.ceil((MAX_REPORTED_LOG_BYTES * 4) / 3) + 4),
      }),
    )
    .max(stream.options.length),
  summary: z.string().max(MAX_SUMMARY_CHARS).nullable(),
});
export type SentOutcome = z.infer<typeof sentOutcome>;

export const reports = z.strictObject({
  reports: z.array(sentOutcome).min(1).max(MAX_REPORTS),
  /** If given, the answer also contains the next work, like the answer to a claim. */
  session: session.optional(),
});
export type Reports = z.infer<typeof reports>;

/**
 * `accepted`: on record, now or before. `stale`: refused for good (STALE_ATTEMPT). `retry`: keep it and send it again;
 * `have` says how much of its logs is here if some is missing.
 */
export interface ReportAnswer {
  readonly token: string;
  readonly outcome: "accepted" | "stale" | "retry";
  readonly code?: "STALE_ATTEMPT" | "RUN_NOT_HERE";
  readonly have?: { readonly [stream in Stream]: number };
  /** The output that it refers to is missing here. */
  readonly output_missing?: true;
}

export interface ReportsAnswer extends ClaimAnswer {
  readonly results: readonly ReportAnswer[];
}

export const logChunk = z.strictObject({ token, stream, offset: z.coerce.number().int().min(0) });
export const outputUpload = z.strictObject({ token });
