import type { Definition } from "../../core/model/definition.js";
import { defineWorkflow as define } from "../../definition/builder.js";
import type { WorkflowInput } from "../../definition/workflow-input.js";
import { checkExpression } from "../../sandbox/check-expression.js";
import { compilePattern } from "../../sandbox/compile-pattern.js";
import { nameFinder } from "../../sandbox/names/find-names.js";
import { checkTemplate } from "../../sandbox/template.js";

/**
 * A workflow written in TypeScript, with the keys of the file. Throws a DarumaError that lists every problem.
 * `actions` names the types of the program's own steps.
 */
export function defineWorkflow(
  input: WorkflowInput,
  options: { readonly actions?: readonly string[] } = {},
): Definition {
  return define(input, {
    checkExpression,
    checkTemplate,
    compilePattern,
    findNames: nameFinder,
    customActions: options.actions ?? [],
  });
}
