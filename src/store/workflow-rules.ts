import { DarumaError } from "../core/errors/errors.js";
import type { NewWorkflow } from "./store.js";

/** Handlers are found by their name within a workflow, so a name that is there twice is a defect of the caller. */
export function refuseMalformedWorkflow({ name: workflow, failureHandlers }: NewWorkflow): void {
  const names = new Set<string>();
  for (const { name } of failureHandlers) {
    if (names.has(name)) {
      throw new DarumaError("STORE_FAILED", `workflow ${workflow} has two failure handlers named ${name}`);
    }
    names.add(name);
  }
}
