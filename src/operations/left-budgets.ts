import { retryMax } from "../core/ladder/retry.js";
import { matchRule } from "../core/ladder/rule.js";
import type { Job, Run } from "../core/run.js";

/** What the ladder of a job still had to give when its log ended. */
export function budgetSentence(run: Run, job: Job): string | null {
  const { onFail } = job.step.definition;
  const parts: string[] = [];
  if (job.allowed !== null)
    parts.push(
      `${Math.max(0, job.allowed - job.charged)} of ${job.allowed} attempts that the operator's retry allows`,
    );
  const retries = retryMax(run, job.step.definition);
  if (retries > 0)
    parts.push(
      `${Math.max(0, retries - job.retriesInVisit - job.heal.resets)} of ${retries} retries of visit ${job.visit}`,
    );
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
  const routed =
    parts.length > 0 || onFail.goto !== null || onFail.gotoJs !== null || job.step.failureEdges.length > 0;
  if (routed)
    parts.push(`${Math.max(0, run.maxLoops - job.scope.loops)} of ${run.maxLoops} loops of ${job.scope.id}`);
  if (job.recoveriesInVisit > 0) {
    const limit = run.definition.maxRecoveries;
    parts.push(`${Math.max(0, limit - job.recoveriesInVisit)} of ${limit} restarts of this visit`);
  }
  return parts.length === 0 ? null : `Left: ${parts.join(", ")}.`;
}
