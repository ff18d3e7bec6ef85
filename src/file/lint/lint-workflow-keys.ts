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

/** All but the first would be skipped, as that one is not over yet. */
export function lintSchedules({ schedules = [] }: Definition): LintFinding[] {
  return schedules.flatMap(({ id, catchUp, overlap }) => {
    if (catchUp !== "all" || overlap !== "skip") return [];
    const message = `\`catch_up: all\` of the schedule ${quote(id)} makes up for one run only: with \`overlap: skip\` the others are skipped while it runs`;
    return [finding("NO_EFFECT", message, ["schedule"], "Write `overlap: allow`, or `catch_up: last`.")];
  });
}

/** A run that replaces all earlier ones is alone, whatever the limit. */
export function lintConcurrency({ concurrency }: Definition): LintFinding[] {
  if (concurrency?.policy !== "cancel_running" || concurrency.limit === 1) return [];
  const message = `\`limit: ${concurrency.limit}\` has no effect: \`policy: cancel_running\` cancels all runs of the group before it`;
  const hint = "Remove `limit`, or use `policy: queue`.";
  return [finding("NO_EFFECT", message, ["concurrency", "limit"], hint)];
}
