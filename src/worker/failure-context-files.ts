import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, readSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { assembleContext } from "../core/context-assembly.js";
import type { FailureContextInput } from "../core/failure-context.js";
import type { Json } from "../core/json.js";
import { seenError } from "../core/seen-error.js";
import { contextArtifact, logFile, outputFolder, summaryArtifact } from "./attempt-paths.js";
import type { Assignment, FailureContext, FailureSource } from "./worker.js";

/** Of each end of a log that long; far more than fits into a context. */
const LOG_PART_BYTES = 32 * 1024;

export interface FailureContextFiles {
  /** For $DARUMA_FAILURE_CONTEXT. */
  readonly file: string;
  /** For the variable `failure`. */
  readonly variable: Json;
}

/**
 * The failure that a transition brought to this attempt, as one bounded envelope beside the attempt's other files,
 * with the manifest of what was included, cut and dropped. Null where none did.
 */
export function writeFailureContext(base: string, assignment: Assignment): FailureContextFiles | null {
  const context = assignment.failureContext ?? failureContextFor(base, assignment);
  if (context === null) return null;
  const files = contextArtifact(base, assignment);
  mkdirSync(dirname(files.text), { recursive: true, mode: 0o700 });
  writeFileSync(files.text, context.text, { mode: 0o600 });
  writeFileSync(files.manifest, JSON.stringify(context.manifest), { mode: 0o600 });
  return { file: files.text, variable: context.variable };
}

/** Read from the logs and summaries of the failed attempt, which are redacted already. */
export function failureContextFor(base: string, assignment: Assignment): FailureContext | null {
  const source = assignment.failureSource;
  if (source === null) return null;
  const { text, manifest } = assembleContext({
    failure: failureContextInput(base, assignment, source),
    upstream: source.upstream,
  });
  const { failure, edge } = source;
  // As templates and expressions have it, with the envelope beside it.
  const variable = { ...seenError(failure), edge, context: text };
  return { text, manifest: JSON.parse(JSON.stringify(manifest)) as Json, variable };
}

/** The failed attempt as its files and its record tell it. */
export function failureContextInput(
  base: string,
  assignment: Assignment,
  source: FailureSource,
): FailureContextInput {
  const { failure } = source;
  const summaryFile = summaryArtifact(base, source);
  const summary = readIfThere(summaryFile);
  const stderrFile = logFile(base, source, "stderr");
  return {
    runId: source.runId,
    targetStep: source.target,
    sourceStep: source.step,
    sourceJob: source.jobId,
    sourceAttempt: source.attempt,
    failureArtifact: relative(outputFolder(base), stderrFile),
    retrySummaryArtifact: summary === null ? null : relative(outputFolder(base), summaryFile),
    createdAt: new Date(assignment.startedAt).toISOString(),
    maxRetries: source.maxRetries,
    retriesOver: failure.retryable
      ? `${source.retriesUsed} of ${source.maxRetries} retries used`
      : `${failure.code} (${failure.class}) is not retryable`,
    failure,
    stderr: readEnds(stderrFile),
    stdout: readEnds(logFile(base, source, "stdout")),
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

/** A log whole, or its two ends where it is long. */
function readEnds(file: string): string {
  let fd: number;
  try {
    fd = openSync(file, "r");
  } catch {
    return "";
  }
  try {
    const { size } = fstatSync(fd);
    if (size <= 2 * LOG_PART_BYTES) return readPart(fd, 0, size);
    return `${readPart(fd, 0, LOG_PART_BYTES)}\n[... ${size - 2 * LOG_PART_BYTES} bytes ...]\n${readPart(fd, size - LOG_PART_BYTES, LOG_PART_BYTES)}`;
  } finally {
    closeSync(fd);
  }
}

function readPart(fd: number, position: number, length: number): string {
  const bytes = Buffer.alloc(length);
  const read = readSync(fd, bytes, 0, length, position);
  return bytes.subarray(0, read).toString("utf8");
}
