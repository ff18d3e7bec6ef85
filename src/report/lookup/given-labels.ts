import type { Run } from "../../core/model/run.js";
import type { Labels } from "../../core/text/labels.js";

/** Those that the file of the run does not give it already. */
export function givenLabels({ labels, definition }: Pick<Run, "labels" | "definition">): Labels {
  return Object.fromEntries(
    Object.entries(labels).filter(([key, value]) => definition.labels?.[key] !== value),
  );
}
