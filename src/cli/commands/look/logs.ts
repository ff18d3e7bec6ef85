import { StringDecoder } from "node:string_decoder";
import { DarumaError } from "../../../core/errors/errors.js";
import type { Client, InputOf, OutputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/declaration.js";
import { type JobPlace, jobPlace } from "../../declare/typed-names.js";
import {
  jsonText,
  type Session,
  writeBytes,
  writeJson,
  writeLines,
  writeText,
} from "../../terminal/channel.js";
import { type LinesWanted, showLogLines } from "./log-lines.js";

interface LogsFlags extends LinesWanted {
  readonly attempt?: number;
  readonly stderr?: boolean;
  readonly scope?: string;
  readonly recovery?: boolean;
  readonly context?: boolean;
  readonly prompt?: boolean;
  readonly summary?: boolean;
  readonly usage?: boolean;
  readonly follow?: boolean;
}

type LogPiece = OutputOf<"get_job_logs">;
type Stream = "stdout" | "stderr";
const ARTIFACTS = ["context", "prompt", "summary", "usage"] as const;
type Artifact = (typeof ARTIFACTS)[number];

/** Fields that every request for a piece has. */
interface Wanted extends JobPlace {
  readonly attempt?: number;
  readonly recovery: boolean;
}

/** A larger log is not put into one JSON object. The output names its path. */
const MAX_JSON_LOG_BYTES = 8 * 1_024 * 1_024;
const PIECE_BYTES = 1_024 * 1_024;

export const logs: Present = async ({ args, flags: given }, session, client) => {
  const flags = given as LogsFlags;
  const kinds = (["recovery", ...ARTIFACTS] as const).filter((kind) => flags[kind] === true);
  if (kinds.length > 1) throw new DarumaError("USAGE", `--${kinds.join(" and --")} cannot be combined`);
  const wanted: Wanted = {
    ...jobPlace(args[0] as string[], flags.scope),
    ...(flags.attempt === undefined ? {} : { attempt: flags.attempt }),
    recovery: flags.recovery === true,
  };
  const artifact = ARTIFACTS.find((kind) => flags[kind] === true);
  const streams: readonly Stream[] = flags.stderr === true ? ["stderr"] : ["stdout", "stderr"];
  const lines = linesWanted(flags, artifact ?? (flags.follow === true ? "follow" : null));
  if (artifact !== undefined) await showArtifact(client, wanted, artifact, session);
  else if (lines !== null)
    await showLogLines(
      client,
      wanted,
      lines,
      lines.grep === undefined ? streams.slice(0, 1) : streams,
      session,
    );
  else if (flags.follow === true)
    await follow(client, wanted, flags.stderr === true ? "stderr" : "stdout", session);
  else if (session.options.json) await showJson(client, wanted, session);
  else await print(client, wanted, streams, session);
  return 0;
};

/** The selected lines; null for the whole log. */
function linesWanted(
  { lines, grep, regex }: LogsFlags,
  beside: "follow" | Artifact | null,
): LinesWanted | null {
  if (regex === true && grep === undefined)
    throw new DarumaError("USAGE", "--regex says how to read --grep, which is missing");
  if (lines === undefined && grep === undefined) return null;
  if (beside !== null)
    throw new DarumaError("USAGE", `--${beside} cannot be combined with --lines or --grep`);
  return {
    ...(lines === undefined ? {} : { lines }),
    ...(grep === undefined ? {} : { grep, regex: regex === true }),
  };
}

function whole(client: Client, wanted: Wanted, stream: Stream | Artifact): Promise<LogPiece> {
  return client.call("get_job_logs", { ...wanted, stream, limit_bytes: MAX_JSON_LOG_BYTES });
}

async function showArtifact(
  client: Client,
  wanted: Wanted,
  kind: Artifact,
  { out, options }: Session,
): Promise<void> {
  const { step, scope, attempt, text, file, manifest } = await whole(client, wanted, kind);
  if (options.json) writeJson(out, { step, scope, attempt, text, file, manifest });
  else writeText(out, text.endsWith("\n") ? text : `${text}\n`);
}

async function showJson(client: Client, wanted: Wanted, { out }: Session): Promise<void> {
  const stdout = await whole(client, wanted, "stdout");
  const stderr = await whole(client, { ...wanted, attempt: stdout.attempt }, "stderr");
  const { step, scope, attempt, status } = stdout;
  writeJson(out, {
    step,
    scope,
    attempt,
    status,
    stdout: textOf(stdout),
    stderr: textOf(stderr),
    stdout_file: stdout.file,
    stderr_file: stderr.file,
    truncated: stdout.truncated,
  });
}

/** The text of a log; null if it is too large for one JSON object. */
function textOf({ text, size }: LogPiece): string | null {
  return size > MAX_JSON_LOG_BYTES ? null : text;
}

/**
 * Prints a log as it is; on a terminal without escape codes except colours. Headings go to stderr, so that they stay
 * out of pipes.
 */
async function print(
  client: Client,
  wanted: Wanted,
  streams: readonly Stream[],
  { err, options }: Session,
): Promise<void> {
  const pieces = await Promise.all(streams.map((stream) => pieceAt(client, wanted, stream, 0)));
  const filled = pieces.filter(({ size }) => size > 0);
  for (const first of filled) {
    if (filled.length > 1 && err.isTerminal) writeLines(err, [err.paint("dim", `-- ${first.stream} --`)]);
    const same = { ...wanted, attempt: first.attempt };
    for (let piece = first; ; ) {
      await writeBytes(Buffer.from(piece.text, "base64"));
      if (piece.next_offset >= piece.size) break;
      piece = await pieceAt(client, same, first.stream as Stream, piece.next_offset);
    }
  }
  if (filled.length === 0 && !options.quiet) writeLines(err, ["nothing was printed"]);
}

function pieceAt(client: Client, wanted: Wanted, stream: Stream, offset: number): Promise<LogPiece> {
  return client.call("get_job_logs", {
    ...wanted,
    stream,
    offset,
    limit_bytes: PIECE_BYTES,
    encoding: "base64",
  });
}

/** Prints output as it is written, until the attempt has ended. */
async function follow(
  client: Client,
  wanted: Wanted,
  stream: Stream,
  { out, options }: Session,
): Promise<void> {
  const { step, scope } = await client.call("get_job", { job_id: wanted.job_id, run_id: wanted.run_id });
  const input = { ...wanted, stream, encoding: "base64" } as const;
  // A character may be split between two pieces.
  const decoder = new StringDecoder("utf8");
  for await (const { data } of client.stream("get_job_logs", input, new AbortController().signal)) {
    const { attempt, offset, text } = data as { attempt: number; offset: number; text: string };
    const bytes = Buffer.from(text, "base64");
    if (!options.json) await writeBytes(bytes);
    else out.write(`${jsonText({ step, scope, attempt, stream, offset, text: decoder.write(bytes) })}\n`);
  }
}

/** Prints an artifact byte for byte; with --json its first piece as text. */
export const artifact: Present = async ({ input }, { out, options }, client) => {
  const wanted = input as InputOf<"get_artifact">;
  if (options.json) {
    writeJson(out, await client.call("get_artifact", wanted));
    return 0;
  }
  for (let offset = 0; ; ) {
    const piece = await client.call("get_artifact", { ...wanted, offset, encoding: "base64" });
    await writeBytes(Buffer.from(piece.text, "base64"));
    offset = piece.next_offset;
    if (offset >= piece.size) return 0;
  }
};
