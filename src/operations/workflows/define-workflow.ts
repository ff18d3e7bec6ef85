import type { Definition } from "../../core/model/definition.js";
import { defineWorkflow as define, type WorkflowInput } from "../../file/builder.js";
import { compilePattern } from "../../run/sandbox/compile-pattern.js";
import { nameFinder } from "../../run/sandbox/names/find-names.js";
import { checkTemplate } from "../../run/sandbox/template.js";
import { checkExpression } from "../../run/sandbox/wrap-code.js";

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
