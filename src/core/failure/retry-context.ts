import type { Failure } from "../model/failure.js";
import { lastChars, truncateHeadTail } from "../text/head-tail.js";
import {
  CONTEXT_POLICY_VERSION,
  type Context,
  type Counts,
  fenceContent,
  headerValue,
  partOf,
} from "./context-envelope.js";

/** Limit for stderr. Stdout gets what stderr leaves of it. */
export const MAX_RETRY_LOG_CHARS = 1_000;
const MAX_REPAIRS = 5;
const MAX_REPAIR_CHARS = 500;
const MAX_RETRY_MESSAGE_CHARS = 500;
const MAX_RETRY_SUMMARY_CHARS = 1_000;
const MAX_COMMAND_CHARS = 300;
const MAX_FILE_NAME_CHARS = 200;
const MAX_CHANGED_FILES = 50;
/** Limit for the whole list, because fifty long paths would leave no room for the author's words. */
const MAX_CHANGED_FILES_CHARS = 3_000;
const MAX_STEP_TITLE_CHARS = 200;

/** Constraints for the step that must fix the failure. */
export const CONSTRAINT_LINES = [
  "- do not re-run unchanged remediation",
  "- if test harness instability is detected, isolate cause before editing product code",
].join("\n");

/** Objective and instructions are the author's own words and stay whole; everything else is redacted and bounded. */
export interface RetryContextInput {
  /** Null, like the instructions, if the step has no prompt. */
  readonly objective: string | null;
  readonly step: string;
  readonly title: string | null;
  readonly instructions: string | null;
  /** The attempt that failed. */
  readonly attempt: number;
  readonly failure: Pick<Failure, "code" | "class" | "message" | "exit_code">;
  readonly signature: string;
  readonly stderr: string;
  /** Null if it is left out. */
  readonly stdout: string | null;
  /** What has been repaired since. */
  readonly repairs: readonly RepairTold[];
  /** The summary of the failed attempt, if there is one. */
  readonly summary: string | null;
  readonly lastCommand: string | null;
  /** The changes of a workspace step. `files` is null if only the hash is known. */
  readonly changes: { readonly files: readonly string[] | null; readonly diffHash: string } | null;
}

/** A repair step with what it gave as JSON, or the recovery script of a rule. */
export interface RepairTold {
  readonly what: string;
  readonly output: string | null;
}

/** The least that another attempt must know. Never the transcript of the one before. */
export function buildRetryContext(input: RetryContextInput): Context {
  const { failure, changes } = input;
  const message = truncateHeadTail(failure.message, MAX_RETRY_MESSAGE_CHARS);
  const summary = input.summary === null ? null : truncateHeadTail(input.summary, MAX_RETRY_SUMMARY_CHARS);
  const stderr = lastChars(input.stderr, MAX_RETRY_LOG_CHARS);
  const printed = input.stdout ?? "";
  const stdout = lastChars(printed, MAX_RETRY_LOG_CHARS - stderr.length);
  const told = [
    `code: ${headerValue(failure.code, MAX_FILE_NAME_CHARS)}`,
    `class: ${failure.class}`,
    `exit_code: ${failure.exit_code}`,
    `message: ${message.text}`,
    ...(input.lastCommand === null
      ? []
      : [`last_command: ${headerValue(input.lastCommand, MAX_COMMAND_CHARS)}`]),
    ...(changes === null || changes.files === null ? [] : changedFileLines(changes.files)),
    ...(summary === null ? [] : [`summary:\n${summary.text}`]),
    ...tailLines("stderr", input.stderr, stderr, failure),
    ...(input.stdout === null ? [] : tailLines("stdout", printed, stdout, failure)),
    ...repairLines(input.repairs),
  ];
  const text = [
    "DARUMA_RETRY_CONTEXT v1",
    `policy_version: ${CONTEXT_POLICY_VERSION}`,
    `step: ${headerValue(input.step, MAX_STEP_TITLE_CHARS)}`,
    ...(input.title === null ? [] : [`title: ${headerValue(input.title, MAX_STEP_TITLE_CHARS)}`]),
    `failed_attempt: ${input.attempt}`,
    `failure_signature: ${input.signature}`,
    ...(changes === null ? [] : [`diff_hash: ${headerValue(changes.diffHash, MAX_FILE_NAME_CHARS)}`]),
    ...(input.objective === null ? [] : [`\nobjective:\n${input.objective}`]),
    ...(input.instructions === null ? [] : [`\ninstructions:\n${input.instructions}`]),
    `\nconstraints:\n${CONSTRAINT_LINES}`,
    `\nfailure_summary (untrusted_data: true):\n${fenceContent(told.join("\n"))}`,
    "",
  ].join("\n");
  const parts = [
    partOf("retry.message", message),
    ...(summary === null ? [] : [partOf("retry.summary", summary)]),
    partOf("retry.stderr", countsOf(input.stderr, stderr)),
    partOf("retry.stdout", countsOf(printed, stdout)),
  ];
  return { text, manifest: { policy_version: CONTEXT_POLICY_VERSION, total_chars: text.length, parts } };
}

function countsOf(original: string, included: string): Counts {
  return { originalChars: original.length, includedChars: included.length };
}

/** The end of a log. For a lost attempt, it is unknown what it printed. */
function tailLines(name: string, original: string, tail: string, { code }: Pick<Failure, "code">): string[] {
  if (original === "") return [`${name}: ${code === "WORKER_LOST" ? "not known" : "empty"}`];
  return tail === "" ? [] : [`${name}, last ${tail.length} of ${original.length} characters:\n${tail}`];
}

function repairLines(repairs: readonly RepairTold[]): string[] {
  return repairs.slice(-MAX_REPAIRS).map(({ what, output }) => {
    const told = `repaired_by: ${headerValue(what, MAX_COMMAND_CHARS)}`;
    return output === null ? told : `${told}\n${truncateHeadTail(output, MAX_REPAIR_CHARS).text}`;
  });
}

function changedFileLines(files: readonly string[]): string[] {
  const shown: string[] = [];
  let room = MAX_CHANGED_FILES_CHARS;
  for (const file of files.slice(0, MAX_CHANGED_FILES)) {
    const line = `- ${headerValue(file, MAX_FILE_NAME_CHARS)}`;
    room -= line.length + 1;
    if (room < 0) break;
    shown.push(line);
  }
  const more = files.length - shown.length;
  return [`changed_files: ${files.length}`, ...shown, ...(more > 0 ? [`- and ${more} more`] : [])];
}
