import { MAX_CONTEXT_CHARS_TOTAL, type UpstreamText } from "../../core/failure/context-assembly.js";
import type { RepairTold } from "../../core/failure/retry-context.js";
import { actionTraits } from "../../core/model/action-traits.js";
import { openFailureOf } from "../../core/model/led-by.js";
import type { Job, Run } from "../../core/model/run.js";
import { firstChars, type LoggedText, lastChars } from "../../core/text/head-tail.js";
import type { Json } from "../../core/text/json.js";
import { outputsNamedInTemplate } from "../sandbox/names/find-names.js";
import type { Assignment, FailureSource, RetryMaterial } from "../worker.js";
import { failedOutputOf, outputOf, type ReadArtifact, repairsOf } from "./variables.js";

/** What the prompt of an agent or model gets in addition to the step's own keys. Empty for other steps. */
export function promptMaterialOf(
  run: Run,
  job: Job,
  readArtifact: ReadArtifact,
): Pick<Assignment, "promptMaterial"> {
  const { action } = job.step.definition;
  if (!actionTraits(action.type).isPrompted) return {};
  const named = [action.prompt, action.system].map((text) => outputsNamedInTemplate(textOf(text)));
  const upstream = upstreamOf(job, readArtifact).filter(({ step }) =>
    named.every((names) => names === "all" || !names.includes(step)),
  );
  return { promptMaterial: { objective: run.definition.name, upstream } };
}

/** The outputs of the step's own dependencies, in their order. */
function upstreamOf(job: Job, readArtifact: ReadArtifact): UpstreamText[] {
  return [...new Set(job.step.groups.flat())].flatMap((step) => {
    const value = outputOf(job, step, readArtifact) ?? null;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return value === null || text === "" ? [] : [{ step: step.definition.id, text: endsOf(text) }];
  });
}

/** Beginning and end of a text. No context has room for more, so a worker does not need the rest. */
function endsOf(text: string): LoggedText {
  if (text.length <= 2 * MAX_CONTEXT_CHARS_TOTAL) return text;
  const head = firstChars(text, MAX_CONTEXT_CHARS_TOTAL);
  const tail = lastChars(text, MAX_CONTEXT_CHARS_TOTAL);
  return { head, tail, omittedChars: text.length - head.length - tail.length };
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/**
 * What an attempt is told about the past: the failure that led to its visit, its own last failure, and a person's hint.
 */
export function ledHere(
  run: Run,
  job: Job,
  readArtifact: ReadArtifact,
): Pick<Assignment, "failureSource" | "retry" | "hint" | "earlierFiles"> {
  const retry = retryOf(job, readArtifact);
  const { earlierFiles } = job;
  return {
    failureSource: failureSourceOf(run, job, readArtifact),
    ...(retry === null ? {} : { retry }),
    ...(job.hint === null ? {} : { hint: { text: job.hint.text, by: job.hint.by } }),
    ...(earlierFiles.length === 0 ? {} : { earlierFiles }),
  };
}

function failureSourceOf(run: Run, job: Job, readArtifact: ReadArtifact): FailureSource | null {
  const led = openFailureOf(job);
  if (led === null) return null;
  const { definition } = led.job.step;
  const output = failedOutputOf(led.output, readArtifact);
  return {
    workflowId: run.workflowId,
    runId: run.id,
    jobId: led.job.id,
    attempt: led.attempt,
    step: definition.id,
    target: job.step.definition.id,
    route: led.route,
    round: led.round,
    rounds: led.rounds,
    earlier: led.earlier,
    failure: led.failure,
    output: output === null ? null : endsOf(JSON.stringify(output)),
    maxRetries: definition.onFail.retry?.max ?? 0,
    retriesUsed: led.job.retriesInVisit,
    upstream: upstreamOf(job, readArtifact),
  };
}

function retryOf(job: Job, readArtifact: ReadArtifact): RetryMaterial | null {
  const { ownFailure: error } = job;
  if (error === null || error.attempt === null) return null;
  const { attempt, signature, diff_hash, changed_files } = error;
  const repairs = repairsOf(job, readArtifact).map(toldRepair);
  const known = { attempt, failure: error, signature, repairs };
  if (diff_hash === null) return known;
  return { ...known, diffHash: diff_hash, changedFiles: changed_files };
}

function toldRepair(repair: ReturnType<typeof repairsOf>[number]): RepairTold {
  if (repair.script !== undefined) return { what: `recovery script ${repair.script}`, output: null };
  const { step, attempt, output } = repair;
  return { what: `${step}, attempt ${attempt}`, output: output === null ? null : JSON.stringify(output) };
}
