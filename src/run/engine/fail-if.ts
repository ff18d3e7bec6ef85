import type { FailureFacts } from "../../core/model/failure.js";
import { failedWith, type Outcome, type Succeeded } from "../../core/model/outcome.js";
import { jobById, type Run } from "../../core/model/run.js";
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
