import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { assembleContext } from "../../core/failure/context-assembly.js";
import type { FailureContextInput } from "../../core/failure/failure-context.js";
import type { Json } from "../../core/text/json.js";
import type { Assignment, FailureContext, FailureSource } from "../worker.js";
import { contextArtifact, failureArtifact, logFile, outputFolder, summaryArtifact } from "./attempt-paths.js";
import { readLogEnds } from "./logs/log-ends.js";

export interface FailureContextFiles {
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
