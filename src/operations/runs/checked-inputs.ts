import { DarumaError, ERROR_CATALOGUE } from "../../core/errors/errors.js";
import type { Definition } from "../../core/model/definition.js";
import type { Json } from "../../core/text/json.js";
import { resolveInputs } from "../../file/check/validate-inputs.js";

/** The inputs that a run would have: with defaults, in the types that the workflow declares. */
export function checkedInputs(
  definition: Definition,
  given: { readonly [name: string]: Json },
): { readonly [name: string]: Json } {
  const resolved = resolveInputs(definition, given);
  if (resolved.ok) return resolved.inputs;
  const { problems } = resolved;
  const errors = problems.map(({ input, message }) => ({ path: `inputs.${input}`, message }));
  const typed = [...new Set(problems.map(({ hint }) => hint))].join(" ");
  throw new DarumaError("INVALID_INPUT", problems.map(({ message }) => message).join("; "), {
    hint: { typed, asked: ERROR_CATALOGUE.INVALID_INPUT.asked },
    details: { errors },
  });
}
