import { xmlAttribute, xmlText } from "../../core/text/escapes.js";
import { oneLine } from "../../core/text/plain-text.js";
import type { RunReport } from "../run-report.js";
import { statusWord } from "../words/status-word.js";
import {
  errorOf,
  handledWords,
  isBroken,
  isHandled,
  type ReportedJob,
  type ReportedRun,
} from "./reported-run.js";

const MS_PER_SECOND = 1_000;
const MAX_MESSAGE_CHARS = 500;
/** `2026-11-16T08:00:00`: readers take neither fractions nor a zone. */
const WHOLE_SECONDS = 19;

/**
 * The form that test reports have everywhere: a run is a suite, a job is a case. Only what all readers know is in it:
 * `failure`, `skipped` and `system-out`. What failed and passed later passes, and says in `system-out` how. What failed and was handled is skipped.
 */
export function junitText({ summary: { report }, jobs }: ReportedRun): string {
  const failures = jobs.filter((job) => isBroken(job, report)).length;
  const skipped = jobs.filter((job) => whySkipped(job, report) !== null).length;
  const suite = attributes({
    name: report.workflow,
    tests: jobs.length,
    failures,
    errors: 0,
    skipped,
    time: seconds(report.duration_ms ?? 0),
    timestamp: report.created_at.slice(0, WHOLE_SECONDS),
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ tests: jobs.length, failures, errors: 0 })}>`,
    `  <testsuite${suite}>`,
    "    <properties>",
    property("daruma.run", String(report.run_id)),
    property("daruma.status", statusWord(report)),
    ...Object.entries(report.labels).map(([key, value]) => property(`label.${key}`, value)),
    "    </properties>",
    ...jobs.map((job) => testCase(job, report)),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function testCase(job: ReportedJob, report: RunReport): string {
  const head = `    <testcase${attributes({ classname: report.workflow, name: job.name, time: seconds(job.durationMs) })}`;
  const inside = [...outcome(job, report), ...story(job)];
  return inside.length === 0 ? `${head}/>` : [`${head}>`, ...inside, "    </testcase>"].join("\n");
}

function outcome(job: ReportedJob, report: RunReport): string[] {
  const reason = whySkipped(job, report);
  if (reason !== null) return [`      <skipped${attributes({ message: reason })}/>`];
  if (!isBroken(job, report)) return [];
  const { code, message } = errorOf(job);
  const held = job.status === "held" ? "held for a decision: " : "";
  const told = attributes({ message: held + oneLine(message, MAX_MESSAGE_CHARS), type: code });
  return [
    `      <failure${told}>${xmlText(job.printed === "" || job.below !== null ? message : job.printed)}</failure>`,
  ];
}

/** What somebody who sees a green case may want to know all the same. */
function story(job: ReportedJob): string[] {
  const lines = job.earlierFailures.map(
    ({ attempt, code, message }) => `attempt ${attempt} failed: ${oneLine(message)} (${code})`,
  );
  if (job.takenOver) lines.push("taken over from another run");
  return lines.length === 0 ? [] : [`      <system-out>${xmlText(lines.join("\n"))}</system-out>`];
}

/**
 * Why a job counts as skipped; null if it passed or failed. A handled failure is neither, because no reader may count
 * it as a passed test.
 */
function whySkipped(job: ReportedJob, report: RunReport): string | null {
  const { status } = job;
  if (isHandled(job, report)) {
    const { code, message } = errorOf(job);
    return `${handledWords(job)}: ${oneLine(message, MAX_MESSAGE_CHARS)} (${code})`;
  }
  if (status === "completed" || isBroken(job, report)) return null;
  if (status === "skipped" || status === "canceled") {
    const why = job.skippedBy ?? (job.error === null ? null : oneLine(job.error.message, MAX_MESSAGE_CHARS));
    return why === null ? status : `${status}: ${why}`;
  }
  return `not finished (${status})`;
}

function property(name: string, value: string): string {
  return `      <property${attributes({ name, value })}/>`;
}

function attributes(values: { readonly [name: string]: string | number }): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${xmlAttribute(String(value))}"`)
    .join("");
}

function seconds(ms: number): string {
  return (ms / MS_PER_SECOND).toFixed(3);
}
