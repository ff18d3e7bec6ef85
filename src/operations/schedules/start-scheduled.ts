import type { Store } from "../../store/store.js";
import type { Runner } from "../context.js";
import { refuseChildrenWithoutFolder } from "../runs/started-run.js";
import { publishedAsWorkflow } from "../workflows/choose-workflow.js";

/** A run of the newest published version with the inputs of its schedule. Null: that version has no such schedule. */
export async function startScheduled(
  { store, start }: { readonly store: Store; readonly start: Runner["start"] },
  { workflow: name, id, mark }: { readonly workflow: string; readonly id: string; readonly mark: string },
): Promise<number | null> {
  const workflow = await publishedAsWorkflow(store, name);
  const schedule = workflow.definition.schedules?.find((each) => each.id === id);
  if (schedule === undefined) return null;
  refuseChildrenWithoutFolder(workflow.definition, workflow.folder);
  return start(workflow, { inputs: schedule.inputs, cause: { mark, request: null } });
}
