import type { Definition } from "../../core/model/definition.js";
import { quote } from "../read/suggest.js";
import { finding, type LintFinding } from "./lint-finding.js";

/** Parts of workspace, self_heal and queue that change nothing. */
export function lintSelfHeal(definition: Definition): LintFinding[] {
  return [
    ...idleWorkspace(definition),
    ...idleSelfHeal(definition),
    ...idleQueue(definition),
    ...idleWatch(definition),
  ];
}

function idleWorkspace({ workspace, steps }: Definition): LintFinding[] {
  if (workspace === null || steps.some(({ usesWorkspace }) => usesWorkspace)) return [];
  return [finding("NO_EFFECT", "no step works in the workspace", ["workspace"])];
}

function idleSelfHeal({ selfHeal, steps }: Definition): LintFinding[] {
  if (selfHeal === null) return [];
  const findings: LintFinding[] = [];
  if (steps.every(({ noProgressLimit }) => noProgressLimit === null)) {
    const hint = "It is for agent and llm_call steps and for steps that work in a `workspace`.";
    findings.push(finding("NO_EFFECT", "no step is healed by `self_heal`", ["self_heal"], hint));
  }
  const { stepNoProgressLimit: limit, stepMaxAttempts: most } = selfHeal;
  if (limit > most) {
    const message = `step_no_progress_limit (${limit}) is never reached in step_max_attempts (${most})`;
    findings.push(finding("NO_EFFECT", message, ["self_heal", "step_no_progress_limit"]));
  }
  return findings;
}

function idleQueue({ queue }: Definition): LintFinding[] {
  if (queue === null || queue.classes.length > 0) return [];
  return [finding("NO_EFFECT", "`queue` requeues nothing: it names no class", ["queue", "classes"])];
}

function idleWatch({ steps }: Definition): LintFinding[] {
  return steps.flatMap(({ id, progress, idleTimeoutMs }) => {
    if (progress !== "files" || idleTimeoutMs !== null) return [];
    const message = `${quote(id)} has no idle timeout, so watching its files has no effect`;
    return [finding("NO_EFFECT", message, ["steps", id, "progress"])];
  });
}
