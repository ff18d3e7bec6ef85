import { z } from "zod";
import { listArtifacts, readArtifact } from "../jobs/artifacts.js";
import { followJobLog, readJobLog } from "../jobs/job-logs.js";
import { operation } from "../operation.js";
import { encoding, flag, jobId, json, runOfJob, runReference } from "./schemas.js";

/** What one answer may carry; more is read piece by piece. */
const MAX_PIECE_BYTES = 8 * 1_024 * 1_024;
const DEFAULT_PIECE_BYTES = 1_024 * 1_024;

const AGENT_TAIL_BYTES = 8 * 1_024;

const bytes = z.coerce.number().int().min(1).max(MAX_PIECE_BYTES);
const offset = z.coerce.number().int().min(0).default(0).describe("From this byte on.");
const limitBytes = bytes.default(DEFAULT_PIECE_BYTES).describe("How many bytes at most.");
const tailBytes = bytes.optional().describe("Only the end: so many bytes.");

const piece = z.object({
  text: z.string(),
  encoding: z.enum(["utf8", "base64"]),
  offset: z.number(),
  next_offset: z.number(),
  size: z.number(),
});

export const getJobLogs = operation({
  name: "get_job_logs",
  summary: "print what an attempt of a step printed: its stdout, then its stderr",
  description:
    "What an attempt of a job printed. `stream`: stdout or stderr (by default the one that tells more: stderr of a failed attempt that printed any), `summary` (the short account of a failed attempt), `context` (the failure that a transition brought to it) or `prompt` (what an agent or a model was told).",
  details:
    "It is redacted. It is read from byte `offset` on, or only its end (`tail_bytes`); `next_offset` is where the next piece begins, `size` where the file ends at present. `recovery` reads the recovery script that followed the attempt. `truncated` says that the attempt printed more than `max_log` of the workflow allows and the rest was dropped. As a stream it goes on while the attempt runs; an item's id is the offset after it.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    job_id: jobId,
    run_id: runOfJob,
    attempt: z.coerce.number().int().min(1).optional().describe("Which attempt; by default the last."),
    stream: z
      .enum(["stdout", "stderr", "context", "prompt", "summary"])
      .optional()
      .describe("What to read; by default stderr of a failed attempt that printed any, else stdout."),
    recovery: flag.default(false).describe("Of the recovery script that followed the attempt."),
    offset,
    limit_bytes: limitBytes,
    tail_bytes: tailBytes,
    encoding,
  }),
  output: piece.extend({
    job_id: z.number(),
    run_id: z.number(),
    step: z.string(),
    scope: z.string(),
    attempt: z.number(),
    status: z.enum(["running", "succeeded", "failed", "stopped"]).nullable(),
    stream: z.string(),
    recovery: z.boolean(),
    file: z.string(),
    manifest: json,
    truncated: z.boolean(),
  }),
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
        "daruma logs last build --follow",
      ],
    },
  ],
  streamFrom: "offset",
  // The end of a log says why it ended.
  forAgents: ({ offset }) => (offset === undefined ? { tail_bytes: AGENT_TAIL_BYTES } : {}),
  handler: (context, input) => readJobLog(context, input),
  stream: (context, input, signal) => followJobLog(context, input, signal),
});

export const listArtifactsOperation = operation({
  name: "list_artifacts",
  summary: "list the files that belong to a run",
  description:
    "Lists the artifacts of a run: outputs too large for the log, failure contexts and summaries, patches and checkpoints. Read one with get_artifact.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({ run_id: runReference }),
  output: z.object({
    run_id: z.number(),
    items: z.array(z.object({ name: z.string(), bytes: z.number() })),
  }),
  rest: { method: "GET", path: "/runs/{run_id}/artifacts" },
  cli: [{ words: "artifacts", positional: ["run_id"], examples: ["daruma artifacts last"] }],
  handler: (context, { run_id }) => listArtifacts(context, run_id),
});

export const getArtifact = operation({
  name: "get_artifact",
  summary: "print a file that belongs to a run",
  description:
    "Reads an artifact by a name that list_artifacts gives, such as summaries/j30000001_a1.txt (over REST its slashes may stand as they are or as %2F), from byte `offset` on; `next_offset` is where the next piece begins.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    run_id: runReference,
    name: z.string().min(1).max(1_024).describe("As list_artifacts gives it."),
    offset,
    limit_bytes: limitBytes,
    tail_bytes: tailBytes,
    encoding,
  }),
  output: piece.extend({ run_id: z.number(), name: z.string() }),
  rest: { method: "GET", path: "/runs/{run_id}/artifacts/{name}", lastTakesSlashes: true },
  cli: [
    {
      words: "artifact",
      positional: ["run_id", "name"],
      examples: ["daruma artifact last outputs/j30000001_a1.json"],
    },
  ],
  handler: (context, { limit_bytes, tail_bytes, ...request }) =>
    readArtifact(context, { ...request, limitBytes: limit_bytes, tailBytes: tail_bytes }),
});
