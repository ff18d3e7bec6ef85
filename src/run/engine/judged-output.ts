import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { itemsOf } from "../../core/decide/item-limit.js";
import { misfitOf } from "../../core/decide/output-fit.js";
import type { EvaluationResult, Output } from "../../core/model/events.js";
import type { FailureFacts } from "../../core/model/failure.js";
import { failedWith, type Outcome, type Succeeded } from "../../core/model/outcome.js";
import { type Job, jobById, type Run } from "../../core/model/run.js";
import type { Json } from "../../core/text/json.js";
import { messageOf } from "../../core/text/message-of.js";
import { oneLine } from "../../core/text/plain-text.js";
import { outputsNamedInCode } from "../sandbox/names/find-names.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { evaluate, planEvaluation } from "./evaluation.js";
import { type ReadArtifact, valueOfOutput, variablesFor } from "./variables.js";

const MAX_SHOWN_CODE_CHARS = 200;

interface Success {
  readonly sandbox: Sandbox;
  readonly run: Run;
  readonly job: number;
  readonly outcome: Succeeded;
  readonly code: string;
  readonly now: number;
  readonly readArtifact: ReadArtifact;
}

/** The expression that may turn this success into a failure; null if there is none. */
export function failIfOf(run: Run, jobId: number, outcome: Outcome): string | null {
  if (outcome.kind !== "succeeded") return null;
  return jobById(run, jobId).step.definition.failIf ?? null;
}

/**
 * The attempt's final outcome. Nothing is on record before it: if the engine dies meanwhile, the attempt has not
 * reported, as if it had died a moment earlier.
 */
export async function judgeSuccess(success: Success): Promise<Outcome> {
  const { sandbox, run, outcome, code, now, readArtifact } = success;
  const job = jobById(run, success.job);
  const fail = (failIf: string, message: string): Outcome => ({
    ...failedWith({ code: failIf, message, ...leftBehind(outcome) }, outcome),
    output: outcome.output,
  });
  try {
    const output = valueOfOutput(outcome.output, readArtifact);
    const variables = variablesFor({ run, job, outputs: outputsNamedInCode(code), readArtifact });
    const planned = planEvaluation({ code, variables: { ...variables, output }, now, expects: "boolean" });
    const answer = await evaluate(sandbox, planned);
    if (!answer.ok) return fail("FAIL_IF_ERROR", `fail_if: ${oneLine(answer.reason)}`);
    return answer.value === true
      ? fail("FAIL_IF", `fail_if is true: ${oneLine(code, MAX_SHOWN_CODE_CHARS)}`)
      : outcome;
  } catch (error) {
    return fail("ARTIFACT_MISSING", `fail_if: an output that it names cannot be read: ${messageOf(error)}`);
  }
}

/** The step's changes in the workspace, by which its progress is judged. */
function leftBehind({
  checkpoint,
  patch,
}: Succeeded): Pick<FailureFacts, "diffHash" | "changedFiles" | "patch"> {
  if (checkpoint == null) return {};
  const left = { diffHash: checkpoint.diff_hash, changedFiles: checkpoint.changed_files };
  return patch === undefined ? left : { ...left, patch };
}

export interface StandInCheck {
  readonly run: Run;
  readonly job: Job;
  /** What would stand in for the job's own output. */
  readonly output: Output | null;
  readonly readArtifact: ReadArtifact;
}

/**
 * Checks whether that output, and the files beside it, keep what the job's step promises. For a forEach step, the
 * answer is its items.
 */
export function checkStandIn(check: StandInCheck): EvaluationResult {
  const { definition } = check.job.step;
  let value: Json;
  try {
    value = check.output === null ? null : valueOfOutput(check.output, check.readArtifact);
  } catch {
    return refused("OUTPUT_INVALID", "the output that was to stand in cannot be read");
  }
  const misfit = misfitOf(value, definition.outputSchema);
  if (misfit !== null) return refused("OUTPUT_INVALID", misfit);
  const items = definition.forEach ? itemsOf(value) : [];
  if (items === null)
    return refused("OUTPUT_INVALID", "a forEach step's output must be an array, also that of its stand-in");
  const missing = firstMissing(check);
  if (missing !== null) return refused("OUTPUT_MISSING", `nobody has made the output file ${missing}`);
  return { ok: true, value: items as unknown as Json, duration_ms: 0 };
}

function refused(code: string, reason: string): EvaluationResult {
  return { ok: false, code, reason, duration_ms: 0 };
}

/**
 * The first missing file. Relative files of a run without a folder are on the workers and cannot be checked from here.
 */
function firstMissing({ run, job }: StandInCheck): string | null {
  const { files, usesWorkspace } = job.step.definition;
  const folder = usesWorkspace ? (run.workspace.path ?? "") : run.folder;
  const isMissing = (path: string) =>
    isAbsolute(path) ? !existsSync(path) : folder !== "" && !existsSync(join(folder, path));
  return files?.outputs.find(isMissing) ?? null;
}
