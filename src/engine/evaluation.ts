import type { EvaluationPurpose } from "../core/events.js";
import type { Job, Run } from "../core/run.js";
import { outputsNamedInCode } from "../sandbox/names/find-names.js";
import type { Evaluation, ExpectedResult } from "../sandbox/sandbox.js";
import { type ReadArtifact, variablesFor } from "./variables.js";

const EXPECTS: { readonly [purpose in EvaluationPurpose]: ExpectedResult } = {
  if: "boolean",
  "on_fail.run_js": "step_ids",
  "on_fail.goto_js": "step_id_or_null",
  "on_success.run_js": "step_ids",
  "on_success.goto_js": "step_id_or_null",
  transition: "boolean",
};

/** An expression with what it may see, as the run is at this moment. */
export function evaluationFor(
  run: Run,
  job: Job,
  purpose: EvaluationPurpose,
  now: number,
  readArtifact: ReadArtifact,
): Evaluation {
  const code = codeOf(job, purpose);
  const variables = variablesFor({ run, job, outputs: outputsNamedInCode(code), readArtifact });
  return { code, variables, now, expects: EXPECTS[purpose] };
}

export function codeOf(job: Job, purpose: EvaluationPurpose): string {
  const { definition } = job.step;
  switch (purpose) {
    case "if":
      return definition.if ?? "";
    case "on_fail.run_js":
      return definition.onFail.runJs ?? "";
    case "on_fail.goto_js":
      return definition.onFail.gotoJs ?? "";
    case "on_success.run_js":
      return definition.onSuccess.runJs ?? "";
    case "on_success.goto_js":
      return definition.onSuccess.gotoJs ?? "";
    case "transition":
      return job.evaluation?.code ?? "";
  }
}
