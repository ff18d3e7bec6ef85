import { isAscii } from "node:buffer";
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
} from "node:fs";
import { dirname, relative } from "node:path";
import { TextDecoder } from "node:util";
import { assembleContext } from "../../core/failure/context-assembly.js";
import type { FailureContextInput } from "../../core/failure/failure-context.js";
import type { LoggedText } from "../../core/text/head-tail.js";
import type { Json } from "../../core/text/json.js";
import type { Assignment, FailureContext, FailureSource } from "../worker.js";
import { contextArtifact, failureArtifact, logFile, outputFolder, summaryArtifact } from "./attempt-paths.js";

/** Size of each end of a long log, far more than fits in a context. */
export const LOG_PART_BYTES = 32 * 1024;
const COUNT_PIECE_BYTES = 1024 * 1024;
const FIRST_NON_ASCII = 0x80;

/** Reads a log, or if it is long its two ends and the length of what is between. */
export function readLogEnds(file: string): LoggedText {
  let fd: number;
  try {
    fd = openSync(file, "r");
  } catch {
    return "";
  }
  try {
    const { size } = fstatSync(fd);
    if (size <= 2 * LOG_PART_BYTES) return readPart(fd, 0, size).toString("utf8");
    const head = decoder().decode(readPart(fd, 0, LOG_PART_BYTES), { stream: true });
    const tail = fromCharacter(readPart(fd, size - LOG_PART_BYTES, LOG_PART_BYTES)).toString("utf8");
    const omittedChars = Math.max(0, countChars(fd, size) - head.length - tail.length);
    return { head, tail, omittedChars };
  } finally {
    closeSync(fd);
  }
}

function readPart(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, position));
}

/** Counts characters like `length`, reading in pieces. Most logs are ASCII, with one byte each. */
function countChars(fd: number, size: number): number {
  const rest = decoder();
  let chars = 0;
  let isInsideCharacter = false;
  for (let position = 0; position < size; position += COUNT_PIECE_BYTES) {
    const piece = readPart(fd, position, Math.min(COUNT_PIECE_BYTES, size - position));
    const isPlain: boolean = !isInsideCharacter && isAscii(piece);
    chars += isPlain ? piece.length : rest.decode(piece, { stream: true }).length;
    isInsideCharacter = !isPlain && (piece.at(-1) ?? 0) >= FIRST_NON_ASCII;
  }
  return chars + rest.decode().length;
}

function decoder(): TextDecoder {
  return new TextDecoder("utf-8", { ignoreBOM: true });
}

/** Drops the rest of a character whose first bytes are missing. */
function fromCharacter(bytes: Buffer): Buffer {
  const start = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return bytes.subarray(Math.max(0, start));
}

interface FailureContextFiles {
  /** The path for $DARUMA_FAILURE_CONTEXT. */
  readonly file: string;
  readonly text: string;
}

/**
 * Writes the failure that led to this attempt: a bounded envelope beside the attempt's other files, with a manifest of
 * what was included, cut and dropped. Null if no failure led here.
 */
export function writeFailureContext(base: string, assignment: Assignment): FailureContextFiles | null {
  const context = assignment.failureContext ?? failureContextFor(base, assignment);
  if (context === null) return null;
  const files = contextArtifact(base, assignment);
  mkdirSync(dirname(files.text), { recursive: true, mode: 0o700 });
  writeFileSync(files.text, context.text, { mode: 0o600 });
  writeFileSync(files.manifest, JSON.stringify(context.manifest), { mode: 0o600 });
  return { file: files.text, text: context.text };
}

/** Reads the context from the logs and summaries of the failed attempt, which are already redacted. */
export function failureContextFor(base: string, assignment: Assignment): FailureContext | null {
  const source = assignment.failureSource;
  if (source === null) return null;
  const { text, manifest } = assembleContext({
    failure: failureContextInput(base, assignment, source),
    upstream: source.upstream,
  });
  return { text, manifest: JSON.parse(JSON.stringify(manifest)) as Json };
}

/** The failed attempt according to its files and its record. */
export function failureContextInput(
  base: string,
  assignment: Assignment,
  source: FailureSource,
): FailureContextInput {
  const { failure } = source;
  const summaryFile = summaryArtifact(base, source);
  const summary = readIfThere(summaryFile);
  const failureFile = failureArtifact(base, source);
  return {
    runId: source.runId,
    route: source.route,
    round: source.round,
    rounds: source.rounds,
    earlier: source.earlier,
    targetStep: source.target,
    sourceStep: source.step,
    sourceJob: source.jobId,
    sourceAttempt: source.attempt,
    failureArtifact: existsSync(failureFile) ? relative(outputFolder(base), failureFile) : null,
    retrySummaryArtifact: summary === null ? null : relative(outputFolder(base), summaryFile),
    createdAt: new Date(assignment.startedAt).toISOString(),
    maxRetries: source.maxRetries,
    retriesOver: failure.retryable
      ? `${source.retriesUsed} of ${source.maxRetries} retries used`
      : `${failure.code} (${failure.class}) is not retryable`,
    failure,
    output: source.output,
    stderr: readLogEnds(logFile(base, source, "stderr")),
    stdout: readLogEnds(logFile(base, source, "stdout")),
    retrySummary: summary,
  };
}

export function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
