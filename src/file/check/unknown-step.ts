import { rename } from "../read/fix.js";
import type { Findings } from "../read/problem.js";
import type { Located } from "../read/schema.js";
import { didYouMean, quote } from "../read/suggest.js";

/** `key` names a step that the file does not have. No key may name the step that it stands in. */
export function reportUnknownStep(
  name: Located<string>,
  key: string,
  steps: Iterable<string>,
  findings: Findings,
  source: string | null = null,
): void {
  const nearest = findings.suggester.nearest(name.value, steps);
  const suggestion = nearest === source ? null : nearest;
  const message = `${key} names the unknown step ${quote(name.value)}${didYouMean(suggestion)}`;
  const hint =
    suggestion === null
      ? "Fix the name or define the step."
      : `Rename it to \`${suggestion}\`, or define the step.`;
  const mending = rename(name.value, suggestion);
  findings.error({ code: "UNKNOWN_STEP", message, hint, at: name.at, path: name.path, mending });
}
