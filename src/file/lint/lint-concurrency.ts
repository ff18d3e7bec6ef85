import type { Definition } from "../../core/model/definition.js";
import { finding, type LintFinding } from "./lint-finding.js";

/** A run that replaces all earlier ones is alone, whatever the limit. */
export function lintConcurrency({ concurrency }: Definition): LintFinding[] {
  if (concurrency?.policy !== "cancel_running" || concurrency.limit === 1) return [];
  const message = `\`limit: ${concurrency.limit}\` has no effect: \`policy: cancel_running\` cancels all runs of the group before it`;
  const hint = "Remove `limit`, or use `policy: queue`.";
  return [finding("NO_EFFECT", message, ["concurrency", "limit"], hint)];
}
