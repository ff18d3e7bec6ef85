import { z } from "zod";
import { bytesOf, MAX_USER_DATA_BYTES, type UserData } from "../../core/model/batch/user-data.js";
import type { FileFacts } from "../../core/model/events.js";
import { OUTCOME } from "../../core/model/outcome.js";
import { HUMAN, LOCAL_WORKER_PREFIX } from "../../core/model/worker-names.js";
import type { Of } from "../../core/text/shape.js";
import { isDeeperThan, MAX_JSON_LEVELS } from "../../core/text/to-json.js";
import type { Assignment } from "../worker.js";
import { zodOf } from "../zod-of.js";

/** How long a server keeps a claim open that it has nothing for. */
export const CLAIM_WAIT_MS = 25_000;
/** How long a silent worker keeps its attempts: a cut of a minute must lose nothing. */
export const DEFAULT_ATTEMPT_LEASE_MS = 90_000;
const MAX_HEARTBEAT_MS = 10_000;
const MAX_KILL_MARGIN_MS = 15_000;

/** Of a log, in one message. */
export const MAX_LOG_CHUNK_BYTES = 1024 * 1024;
/** Of the end of a log, within a report. */
export const MAX_REPORTED_LOG_BYTES = 64 * 1024;
/** As much as a step may write to $DARUMA_OUTPUT, and what JSON adds to it. */
export const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** Of a message with reports. */
export const MAX_REPORTS_BYTES = 32 * 1024 * 1024;
export const MAX_REPORTS = 100;
const MAX_HELD = 10_000;
/** In one heartbeat; others follow with the next. */
export const MAX_RUNS_MENTIONED = 100;
const MAX_NAME_CHARS = 100;
const MAX_PLACE_CHARS = 200;
/** Stores keep it in 32 bits. */
const MAX_RESTARTS = 2_147_483_647;
const MAX_TAGS = 100;
/** Secrets and programs asked for in one answer; others follow. */
export const MAX_ASKED = 500;
const MAX_SUMMARY_CHARS = 20_000;
const MAX_TEXT_CHARS = 32 * 1024;
const MAX_SLOTS = 100_000;
const MAX_GPUS = 10_000;

/** At least three times in a lease. Whole milliseconds: some timers take nothing else. */
export function heartbeatMs(leaseMs: number): number {
  return Math.min(Math.floor(leaseMs / 3), MAX_HEARTBEAT_MS);
}

/** A worker that cannot renew ends its attempts so long before the server gives them to another. */
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

/** Stands in records, tables and on terminals. */
export const placeName = z
  .string()
  .max(MAX_PLACE_CHARS)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]*$/, "letters, digits, dots, dashes, colons and underscores");
export const allocationName = z
  .string()
  .max(MAX_PLACE_CHARS)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9][A-Za-z0-9._[\]-]*$/, "CLUSTER/ID");
const restarts = z.number().int().min(0).max(MAX_RESTARTS);

/** An attempt or a recovery script, as a worker speaks of it. */
const held = z.strictObject({ job: count, attempt: count, recovery: z.boolean(), token });
export type Held = z.infer<typeof held>;

export const registration = z.strictObject({
  /** Of one worker process: the same when it registers again. */
  instance: z.string().regex(/^[0-9a-f-]{8,64}$/),
  name,
  slots: z.number().int().min(1).max(MAX_SLOTS),
  cpus: z.number().min(0).max(MAX_SLOTS),
  memory_bytes: count,
  /** Without it none. */
  gpus: z.number().int().min(0).max(MAX_GPUS).optional(),
  /** Machines of its allocation, which it alone speaks for; without it one. */
  nodes: z.number().int().min(1).max(MAX_SLOTS).optional(),
  tags: words,
  actions: words,
  /** It finds a bash; without it there is none. */
  bash: z.boolean().optional(),
  /** The machine that it runs on. */
  node: placeName.nullish(),
  /** What a scheduler gave it, and how often that was started again. */
  allocation: allocationName.nullish(),
  restart: restarts.nullish(),
  /** After as long it takes nothing any more; without it, it stays. By its own clock: those of two machines differ. */
  ends_in_ms: count.nullish(),
  /** What it holds: running, or ended and not yet accepted. */
  attempts: z.array(held).max(MAX_HELD),
  /** It takes nothing new. */
  draining: z.boolean().optional(),
});
export type Registration = z.infer<typeof registration>;

export interface Registered {
  readonly worker_id: string;
  /** Until the worker registers again: only within it is anything given out. */
  readonly session: string;
  readonly lease_ms: number;
  readonly heartbeat_ms: number;
  readonly kill_margin_ms: number;
}

/** What a server knows of the attempts that a worker holds. What it does not name is unknown there: not renewed. */
export interface Verdict {
  readonly renewed: readonly string[];
  /** Nobody wants them any more: end them and report. */
  readonly stop: readonly string[];
  /** They are somebody else's by now: end them and forget them. */
  readonly lost: readonly string[];
}

/**
 * Of the last registration. A worker that missed an answer registers again with what it holds; what it was given and
 * does not hold is then given to it once more, and answers that are still on their way to it bring nothing.
 */
const session = z.string().min(1).max(MAX_NAME_CHARS);

export const claim = z.strictObject({
  session,
  /** Whether it has what the last answer asked for. */
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
  /** Runs that it keeps folders of and has nothing to do for. */
  runs: z.array(count).max(MAX_RUNS_MENTIONED).optional(),
});
export type Heartbeat = z.infer<typeof heartbeat>;

/** What there is for a worker to do. */
export interface ClaimAnswer {
  readonly assignments: readonly Assignment[];
  readonly stop: readonly string[];
  /** Secrets and programs, by name: the next claim is to say whether the worker has them. */
  readonly asks?: readonly string[];
}

/** What people want of a run: the live-control document. */
export interface LiveControl {
  /** Nothing new is started in it. */
  readonly paused: boolean;
  readonly takeover: boolean;
  /** What somebody last asked to be done about one step. */
  readonly recovery: {
    readonly action: "retry_step" | "hard_reset_step" | "resume_from_step" | "redrive";
    readonly step_id: string;
    /** ISO 8601. */
    readonly updated_at: string;
  } | null;
}

export interface HeartbeatAnswer extends Verdict {
  /** Of the runs it spoke of those that are known to be over: their folders are of no use any more. */
  readonly over: readonly number[];
  /** By run: of each of which the worker holds attempts. */
  readonly control: { readonly [runId: string]: { readonly live_control: LiveControl } };
}

/** More than its shape says: it goes on record, and a worker may say anything. */
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

/** One that is nested too deeply cannot be measured. */
function isUserData(written: UserData): boolean {
  return !isDeeperThan(written, MAX_JSON_LEVELS) && bytesOf(written) <= MAX_USER_DATA_BYTES;
}

/** What only the server can know is not for a worker to say. */
const outcome = zodOf(OUTCOME, { others: "dropped", maxChars: MAX_TEXT_CHARS }).refine(
  isWithinBounds,
  "numbers that nobody counts, or too much user data",
);

/** `usage`: samples of what its processes used, for an attempt of which these are wanted. */
export const stream = z.enum(["stdout", "stderr", "usage"]);
export type Stream = z.infer<typeof stream>;

/** An outcome on its way: whose it is, and what the server has not yet. */
const sentOutcome = held.extend({
  outcome,
  /** The ends of its logs; what came before has been sent. */
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
  /** With it the answer also brings what there is to do next, as the answer to a claim does. */
  session: session.optional(),
});
export type Reports = z.infer<typeof reports>;

/**
 * `accepted`: on record, now or before. `stale`: refused for good (STALE_ATTEMPT). `retry`: keep it and offer it again;
 * `have` tells how much of its logs is here where some is missing.
 */
export interface ReportAnswer {
  readonly token: string;
  readonly outcome: "accepted" | "stale" | "retry";
  readonly code?: "STALE_ATTEMPT" | "RUN_NOT_HERE";
  readonly have?: { readonly [stream in Stream]: number };
  /** The output that it speaks of is not here. */
  readonly output_missing?: true;
}

export interface ReportsAnswer extends ClaimAnswer {
  readonly results: readonly ReportAnswer[];
}

export const logChunk = z.strictObject({ token, stream, offset: z.coerce.number().int().min(0) });
export const outputUpload = z.strictObject({ token });
