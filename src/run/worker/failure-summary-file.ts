import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { MAX_FAILURE_SUMMARY_CHARS, summariseFailure } from "../../core/failure/failure-summary.js";
import type { Failure } from "../../core/model/failure.js";
import type { Redactor } from "../../core/redaction/redaction.js";
import { firstChars } from "../../core/text/head-tail.js";
import type { Action, Attempt } from "../action/action.js";
import { printedText } from "../process/output-capture.js";
import type { Assignment } from "../worker.js";
import { summaryArtifact } from "./attempt-paths.js";

/** Time limit for a summarising command. After that the built-in summary is used. */
const SUMMARY_TIMEOUT_MS = 30_000;
/**
 * Limit for the output of a summarising command. It is much larger than a summary, because redaction may shorten it.
 */
const MAX_PRINTED_BYTES = 1024 * 1024;

export interface SummaryRequest {
  readonly base: string;
  readonly assignment: Assignment;
  readonly failure: Failure;
  readonly redactor: Redactor;
  /** Runs the step's own summarising command. Null if the worker cannot run commands. */
  readonly command: Action | null;
  readonly env: { readonly [name: string]: string };
  /** The attempt's signal, which also ends the summarising. */
  readonly signal: AbortSignal;
}

/**
 * Writes a short summary of a failed attempt beside its logs: from the step's own command, or else the built-in one.
 */
export async function writeFailureSummary(request: SummaryRequest): Promise<void> {
  const { base, assignment, failure, redactor } = request;
  const own = assignment.summarize === null ? null : await runSummarizer(request);
  const text = own ?? summariseFailure(failure);
  const file = summaryArtifact(base, assignment);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Redacted before it is cut, because half a secret would not be recognised.
  writeFileSync(file, firstChars(redactor.redact(text), MAX_FAILURE_SUMMARY_CHARS), { mode: 0o600 });
}

/** Runs the command, which reads stderr, then stdout, and prints the summary. */
async function runSummarizer({
  assignment,
  failure,
  command,
  env,
  redactor,
  signal,
}: SummaryRequest): Promise<string | null> {
  if (command === null) return null;
  const printed: Uint8Array[] = [];
  let bytes = 0;
  const attempt: Attempt = {
    ...assignment,
    // The token identifies its processes if this worker dies.
    env: { ...env, DARUMA_ATTEMPT_TOKEN: assignment.token },
    action: {
      type: "command",
      exec: assignment.summarize ?? "",
      stdin: `${failure.stderr_tail}\n${failure.stdout_tail}`,
    },
    writeStdout: (chunk) => {
      if (bytes < MAX_PRINTED_BYTES) printed.push(chunk.slice(0, MAX_PRINTED_BYTES - bytes));
      bytes += chunk.length;
    },
    writeStderr: () => {},
    outputFile: "/dev/null/none",
    failureFile: "/dev/null/none",
    signal: AbortSignal.any([signal, AbortSignal.timeout(SUMMARY_TIMEOUT_MS)]),
  };
  const result = await command.run(attempt);
  const text = printedText(Buffer.concat(printed), (all) => redactor.redactBytes(all)).trim();
  return result.kind === "succeeded" && text !== "" ? text : null;
}
