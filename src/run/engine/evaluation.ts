import type { EvaluationPurpose, EvaluationResult } from "../../core/model/events.js";
import type { Job, Run } from "../../core/model/run.js";
import { outputsNamedInCode } from "../sandbox/names/find-names.js";
import { type Rendered, type Rendering, renderInPlace, withEnv } from "../sandbox/render-step.js";
import type { Evaluation, ExpectedResult, Sandbox } from "../sandbox/sandbox.js";
import { envTemplates, type ReadArtifact, variablesFor } from "./variables.js";

/** Purposes that code decides. Whether an output may stand in is determined by a check instead. */
export type CodePurpose = Exclude<EvaluationPurpose, "stand_in">;

const EXPECTS: { readonly [purpose in CodePurpose]: ExpectedResult } = {
  if: "boolean",
  "on_fail.run_js": "step_ids",
  "on_fail.goto_js": "step_id_or_null",
  "on_success.run_js": "step_ids",
  "on_success.goto_js": "step_id_or_null",
  transition: "boolean",
};

/** An expression with its variables at this moment. `pending` must be rendered first. */
export function evaluationFor(
  run: Run,
  job: Job,
  purpose: CodePurpose,
  now: number,
  readArtifact: ReadArtifact,
): PlannedEvaluation {
  const code = codeOf(job, purpose);
  const variables = variablesFor({ run, job, outputs: outputsNamedInCode(code), readArtifact });
  return planEvaluation({ code, variables, now, expects: EXPECTS[purpose] });
}

export function planEvaluation(evaluation: Evaluation): PlannedEvaluation {
  const { code, variables } = evaluation;
  const rendering: Rendering = { variables, env: envTemplates(variables, [code]), trees: [] };
  const rendered = renderInPlace(rendering);
  if (rendered === null) return { evaluation, pending: rendering };
  return { evaluation: { ...evaluation, variables: withEnv(variables, rendered.env) }, pending: null };
}

/**
 * Evaluates an expression. Values of `env` that cannot be rendered are passed unchanged. If none is pending, it begins
 * at once.
 */
export function evaluate(
  sandbox: Sandbox,
  { evaluation, pending }: PlannedEvaluation,
): Promise<EvaluationResult> {
  if (pending === null) return sandbox.evaluate(evaluation);
  return sandbox.render(pending).then((rendered) => {
    if (!rendered.ok) return sandbox.evaluate(evaluation);
    const { env } = rendered.value as unknown as Rendered;
    return sandbox.evaluate({ ...evaluation, variables: withEnv(evaluation.variables, env) });
  });
}

export interface PlannedEvaluation {
  readonly evaluation: Evaluation;
  readonly pending: Rendering | null;
}

export function codeOf(job: Job, purpose: CodePurpose): string {
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
