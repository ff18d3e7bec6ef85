import { gotoBound } from "../../core/decide/goto.js";
import { retryMax } from "../../core/decide/ladder/retry.js";
import { matchRule } from "../../core/decide/ladder/rule.js";
import { loopCount } from "../../core/decide/loop-budget.js";
import type { Job, Run } from "../../core/model/run.js";
import { retryLoopText } from "./loop-text.js";

/** What the ladder of a job still had to give when its log ended. */
export function budgetSentence(run: Run, job: Job): string | null {
  const { onFail } = job.step.definition;
  const parts: string[] = [];
  if (job.allowed !== null)
    parts.push(
      `${Math.max(0, job.allowed - job.charged)} of ${job.allowed} attempts that the operator's retry allows`,
    );
  const retries = retryMax(run, job.step.definition);
  if (retries > 0) parts.push(retriesLeft(run, job, retries));
  if (onFail.run.length > 0 || onFail.runJs !== null)
    parts.push(job.remediatedInVisit ? "no remediation in this visit" : "its remediation");
  const rule = job.error === null ? null : matchRule(run, job, job.error);
  if (rule !== null && "rule" in rule) {
    const { maxAttempts } = rule.rule;
    const left = Math.max(0, maxAttempts - job.charged);
    parts.push(`${left} of ${maxAttempts} attempts by rule ${rule.index + 1} of ${rule.handler.name}`);
  }
  const { selfHeal, queue } = run.definition;
  if (selfHeal && job.step.definition.usesWorkspace)
    parts.push(
      `${selfHeal.maxResets - run.workspace.resets} of ${selfHeal.maxResets} hard resets of this run`,
    );
  if (queue) {
    const most = queue.maxAttempts - 1;
    parts.push(`${Math.max(0, most - job.queue.requeues)} of ${most} requeues`);
  }
  parts.push(...gotosLeft(job));
  const routed =
    parts.length > 0 || onFail.goto !== null || onFail.gotoJs !== null || job.step.failureEdges.length > 0;
  if (routed)
    parts.push(`${Math.max(0, run.maxLoops - job.scope.loops)} of ${run.maxLoops} loops of ${job.scope.id}`);
  if (job.restartsInVisit > 0) {
    const limit = run.definition.maxRecoveries;
    parts.push(`${Math.max(0, limit - job.restartsInVisit)} of ${limit} restarts of this visit`);
  }
  return parts.length === 0 ? null : `Left: ${parts.join(", ")}.`;
}

/** What the visit has left and max_loops allows. */
function retriesLeft(run: Run, job: Job, most: number): string {
  const inVisit = Math.max(0, most - job.retriesInVisit - job.heal.resets);
  const { retries, loops, max } = loopCount(run, job, "retry");
  const allowed = Math.max(0, max - retries - loops);
  const cut = allowed < inVisit ? ` (max_loops: ${retryLoopText(run, job)})` : "";
  return `${Math.min(inVisit, allowed)} of ${most} retries of visit ${job.visit}${cut}`;
}

function gotosLeft(job: Job): string[] {
  return (["failure", "success"] as const).flatMap((trigger) => {
    const max = gotoBound(job, trigger);
    if (max === null) return [];
    return [`${Math.max(0, max - job.gotos[trigger])} of ${max} gotos after a ${trigger}`];
  });
}
