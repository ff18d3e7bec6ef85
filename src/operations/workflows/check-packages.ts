import type { Definition } from "../../core/model/definition.js";
import type { LlmProvider } from "../../file/fields/agent-fields.js";
import { checkModelPackages } from "../../run/action/model-packages.js";

/** Before a run of this process begins: not after an hour of other steps. Throws PACKAGE_MISSING. */
export function checkPackages({ steps }: Definition): void {
  for (const { action } of steps)
    if (action.type === "llm_call") checkModelPackages(action.provider as LlmProvider);
}
