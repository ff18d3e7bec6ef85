import type { Definition } from "../../core/model/definition.js";
import { finding, type LintFinding } from "./lint-finding.js";

/** Only `unhandled: hold` makes holds; without it there is nothing that could expire. */
export function lintHolds({ unhandled, hold, steps }: Definition): LintFinding[] {
  if (unhandled === "hold") return [];
  const message = "`hold` has no effect: without `unhandled: hold` nothing is held";
  const hint = "Add `unhandled: hold` at the top of the file, or remove `hold`.";
  const own = steps.filter((step) => step.hold !== undefined).map(({ id }) => ["steps", id, "hold"]);
  return [...(hold === undefined ? [] : [["hold"]]), ...own].map((segments) =>
    finding("NO_EFFECT", message, segments, hint),
  );
}
