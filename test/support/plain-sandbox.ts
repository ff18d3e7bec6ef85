import type { EvaluationResult } from "../../src/core/model/events.js";
import type { Json } from "../../src/core/text/json.js";
import { type Rendering, renderStep } from "../../src/run/sandbox/render-step.js";
import type { Evaluation, Sandbox } from "../../src/run/sandbox/sandbox.js";

/** Evaluates trusted test code in place, so that tests with the manual clock never wait for a thread. */
export const plainSandbox: Sandbox = {
  evaluate: ({ code, variables, expects }) => Promise.resolve(evaluate(code, variables, expects)),
  render: (rendering) => Promise.resolve(render(rendering)),
  close: () => Promise.resolve(),
};

function render(rendering: Rendering): EvaluationResult {
  try {
    return { ok: true, value: renderStep(rendering) as unknown as Json, duration_ms: 0 };
  } catch (error) {
    return { ok: false, code: "TEMPLATE_ERROR", reason: (error as Error).message, duration_ms: 0 };
  }
}

function evaluate(
  code: string,
  variables: Evaluation["variables"],
  expects: Evaluation["expects"],
): EvaluationResult {
  try {
    const body = code.includes("return") ? code : `return (${code})`;
    const value = new Function(...Object.keys(variables), body)(...Object.values(structuredClone(variables)));
    return { ok: true, value: expects === "boolean" ? Boolean(value) : (value ?? null), duration_ms: 0 };
  } catch (error) {
    return {
      ok: false,
      code: "EXPRESSION_THREW",
      reason: error instanceof Error ? error.message : String(error),
      duration_ms: 0,
    };
  }
}
