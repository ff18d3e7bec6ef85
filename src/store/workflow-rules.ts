import { DarumaError } from "../core/errors/errors.js";
import type { NewWorkflow } from "./store.js";

/** Refuses two handlers of the same name in a workflow: they are found by name, so this is a defect of the caller. */
export function refuseMalformedWorkflow({ name: workflow, failureHandlers }: NewWorkflow): void {
  const names = new Set<string>();
  for (const { name } of failureHandlers) {
    if (names.has(name)) {
      throw new DarumaError("STORE_FAILED", `workflow ${workflow} has two failure handlers named ${name}`);
    }
    names.add(name);
  }
}
