import type { Run } from "../../core/model/run.js";
import type { Labels } from "../../core/text/labels.js";

/** Labels of the run that do not come from its file. */
export function givenLabels({ labels, definition }: Pick<Run, "labels" | "definition">): Labels {
  return Object.fromEntries(
    Object.entries(labels).filter(([key, value]) => definition.labels?.[key] !== value),
  );
}
