import { readFileSync, statSync } from "node:fs";
import { z } from "zod";
import type { AttemptStatus, JobRow } from "../../core/model/rows.js";
import { NOTICE_END } from "../../run/action/log-limits.js";
import { changesOf } from "../../tell/lookup/changes.js";
import { findJob } from "../../tell/lookup/choose-job.js";
import type { Context } from "../context.js";
import { limitBytes, offset, piece, readPart, tailBytes } from "../file-part.js";
import { type Answer, operation, type StreamItem } from "../operation.js";
import { definitionOf } from "../operator-words.js";
import { encoding, flag, jobId, json, runOfJob } from "../schemas.js";
import { findLines, foundLines, lines } from "./log-lines/read-lines.js";
import {
  ARTIFACT_KINDS,
  type ArtifactKind,
  type AttemptLogs,
  findArtifact,
  findLogs,
  findRecoveryLogs,
  type LogRequest,
} from "./read-logs.js";

const AGENT_TAIL_BYTES = 8 * 1_024;

const input = z.strictObject({
  job_id: jobId,
  run_id: runOfJob,
  attempt: z.coerce.number().int().min(1).optional().describe("Which attempt; by default the last."),
  stream: z
    .enum(["stdout", "stderr", ...ARTIFACT_KINDS])
    .optional()
    .describe("What to read."),
  recovery: flag.default(false).describe("Read the recovery script that followed the attempt."),
  offset,
  limit_bytes: limitBytes,
  tail_bytes: tailBytes,
  encoding,
  lines: lines.optional().describe("Only these lines: 120:160, 120: or -50: (the last 50)."),
  grep: z.string().min(1).max(1_000).optional().describe("Only lines with this text, ignoring case."),
  regex: flag.default(false).describe("`grep` is an RE2 expression."),
});
type JobLogRequest = z.output<typeof input>;

const jobLog = piece.extend({
  job_id: z.number(),
  run_id: z.number(),
  step: z.string(),
  scope: z.string(),
  attempt: z.number(),
  status: z.enum(["running", "succeeded", "failed", "stopped", "suspended"]).nullable(),
  stream: z.string(),
  recovery: z.boolean(),
  file: z.string(),
  manifest: json,
  truncated: z.boolean(),
  lines: foundLines.nullable(),
});

export const getJobLogs = operation({
  name: "get_job_logs",
  summary: "print what a step printed: its stdout, then its stderr",
  description:
    "Returns what an attempt of a job printed. `stream`: stdout or stderr (by default stderr of a failed attempt that printed any, else stdout), `summary` (of a failed attempt), `context` (the failure that a transition passed to it), `prompt` (of an agent or model) or `usage` (samples as CSV). With `lines` or `grep` the answer has numbered lines instead of `text`.",
  details:
    "The text is redacted. Reading starts at byte `offset`, or only the end is read (`tail_bytes`). `next_offset` is where the next piece begins, `size` where the file ends now. `recovery` reads the recovery script that followed the attempt. `truncated` says that the attempt printed more than `max_log` of the workflow allows and the rest was dropped. As a stream it continues while the attempt runs; an item's id is the offset after it. `lines` in the answer has at most 1,000 lines, each up to 4 KB, and the numbers of the lines that look like errors; `next_line` is where to go on. A search looks at 64 MB, and for one second, at most; of a line at 64 KB, or at less if the expression is large.",
  role: "viewer",
  effect: "reads",
  input,
  output: jobLog,
  rest: { method: "GET", path: "/jobs/{job_id}/logs", streamsText: true },
  cli: [
    {
      words: "logs",
      positional: [],
      examples: [
        "daruma logs 3 build",
        "daruma logs last build --attempt 1 --stderr",
        "daruma logs 3 visit --scope 'root/cities[1]'",
        "daruma logs 3 build --recovery --attempt 2",
        "daruma logs 3 fallback --context",
        "daruma logs 3 fix --prompt --attempt 2",
        "daruma logs last build --lines 120:160",
        "daruma logs last build --grep 'connection refused'",
        "daruma logs last build --follow",
      ],
    },
  ],
  streamFrom: "offset",
  // The end of a log says why it ended.
  agentDefaults: ({ offset }) => (offset === undefined ? { tail_bytes: AGENT_TAIL_BYTES } : {}),
  handler: readJobLog,
  stream: followJobLog,
});

type LogStream = "stdout" | "stderr" | ArtifactKind;

/** The status is null for a file that is not a log of the attempt itself. `manifest` says what a context or a prompt includes, cuts and drops. */
type JobLog = Answer<typeof jobLog>;

interface FoundFile {
  readonly stream: LogStream;
  readonly attempt: number;
  readonly status: AttemptStatus | null;
  readonly file: string;
  readonly manifest: string | null;
  /** The size of both logs of the attempt. */
  readonly logBytes: number;
  /** One of them ends as a log does from which something was dropped. */
  readonly mayBeCut: boolean;
}

async function readJobLog(context: Context, request: JobLogRequest): Promise<JobLog> {
  const { lines, grep, regex, limit_bytes: limitBytes } = request;
  const asksForLines = lines !== undefined || grep !== undefined;
  const { logBytes, mayBeCut, ...piece } = await readPiece(
    context,
    asksForLines ? { ...request, offset: 0, tail_bytes: undefined, limit_bytes: 0 } : request,
  );
  const truncated = mayBeCut && (await isTruncated(context, piece.run_id, logBytes));
  if (!asksForLines) return { ...piece, truncated, lines: null };
  return { ...piece, truncated, lines: await findLines(piece.file, { lines, grep, regex, limitBytes }) };
}

/** Whether output was dropped: a note about that is beyond the limit, which is in the (possibly large) definition. */
async function isTruncated({ store }: Context, runId: number, logBytes: number): Promise<boolean> {
  const definition = await definitionOf(store, runId);
  return definition !== null && logBytes > definition.maxLogBytes;
}

async function readPiece(
  context: Context,
  request: JobLogRequest,
): Promise<Omit<JobLog, "truncated" | "lines"> & Pick<FoundFile, "stream" | "logBytes" | "mayBeCut">> {
  const job = await findJob(context.store, request);
  const { recovery, offset, limit_bytes: limitBytes, tail_bytes: tailBytes, encoding } = request;
  const found = await findFile(context, request, job);
  const { attempt, status, file, manifest, stream, logBytes, mayBeCut } = found;
  return {
    job_id: job.id,
    run_id: job.run_id,
    step: job.step,
    scope: job.scope,
    attempt,
    status,
    stream,
    recovery,
    file,
    manifest: manifest === null ? null : (JSON.parse(readFileSync(manifest, "utf8")) as unknown),
    logBytes,
    mayBeCut,
    ...readPart(file, { offset, limitBytes, tailBytes, encoding }),
  };
}

async function findFile(
  { store, outputDir }: Context,
  { attempt, stream, recovery }: JobLogRequest,
  job: JobRow,
): Promise<FoundFile> {
  const request: LogRequest = { job, ...(attempt === undefined ? {} : { attempt }) };
  if (stream !== undefined && stream !== "stdout" && stream !== "stderr") {
    const found = await findArtifact(store, outputDir, { ...request, kind: stream });
    const { attempt: of, file, manifest } = found;
    return { stream, attempt: of, status: null, file, manifest, logBytes: 0, mayBeCut: false };
  }
  const found = recovery
    ? await findRecoveryLogs(store, outputDir, request)
    : await findLogs(store, outputDir, request);
  const chosen = stream ?? tellingStream(found);
  const { attempt: number, status } = found;
  const logBytes = sizeOf(found.stdout) + sizeOf(found.stderr);
  const mayBeCut = endsLikeNotice(found.stdout) || endsLikeNotice(found.stderr);
  return { stream: chosen, attempt: number, status, file: found[chosen], manifest: null, logBytes, mayBeCut };
}

function endsLikeNotice(file: string): boolean {
  const end = NOTICE_END.length;
  return readPart(file, { offset: 0, tailBytes: end, limitBytes: end, encoding: "utf8" }).text === NOTICE_END;
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** Why an attempt failed stands on stderr, if it printed anything there. */
function tellingStream({ status, stderr }: AttemptLogs): "stdout" | "stderr" {
  if (status !== "failed") return "stdout";
  return sizeOf(stderr) > 0 ? "stderr" : "stdout";
}

/** What is written, as it is written, until the attempt has ended. An item's id is where the next one begins. */
async function* followJobLog(
  context: Context,
  request: JobLogRequest,
  signal: AbortSignal,
): AsyncGenerator<StreamItem> {
  const changes = changesOf(context.store);
  try {
    let { tail_bytes, offset, attempt, stream } = request;
    const { id: job_id } = await findJob(context.store, request);
    while (!signal.aborted) {
      // Before the file: what the attempt wrote before it ended is read after it is known to have ended.
      const part = await readPiece(context, { ...request, job_id, attempt, stream, offset, tail_bytes });
      ({ attempt, stream, next_offset: offset } = part);
      tail_bytes = undefined;
      if (part.text !== "") {
        const { text, encoding, offset: from, size } = part;
        yield { id: String(offset), event: "log", data: { attempt, offset: from, size, encoding, text } };
      }
      if (offset < part.size) continue;
      if (part.status !== "running") return;
      await changes.next({ runId: part.run_id, signal });
    }
  } finally {
    changes.stop();
  }
}
