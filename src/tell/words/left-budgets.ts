import { gotoBound } from "../../core/decide/goto.js";
import { retryMax } from "../../core/decide/ladder/retry.js";
import { matchRule } from "../../core/decide/ladder/rule.js";
import { loopCount } from "../../core/decide/loop-budget.js";
import { repairsInVisit } from "../../core/model/definition.js";
import type { Job, Run } from "../../core/model/run.js";
import { inScope, retryLoopText } from "./loop-text.js";

export const BUDGET_KINDS = [
  ...(["operator_attempts", "retries", "remediation", "rule_attempts", "hard_resets"] as const),
  ...(["requeues", "gotos_after_failure", "gotos_after_success", "loops", "restarts"] as const),
] as const;

/** What one rung may still take of what it was given. */
export interface LeftBudget {
  readonly kind: (typeof BUDGET_KINDS)[number];
  readonly left: number;
  readonly of: number;
  readonly text: string;
}

/** What the ladder of a job still has to give, as a sentence. */
export function budgetSentence(run: Run, job: Job): string | null {
  return sentenceOf(budgetsLeft(run, job));
}

export function sentenceOf(budgets: readonly LeftBudget[]): string | null {
  return budgets.length === 0 ? null : `Left: ${budgets.map(({ text }) => text).join(", ")}.`;
}

export function budgetsLeft(run: Run, job: Job): LeftBudget[] {
  const { onFail } = job.step.definition;
  const budgets = [
    ...operatorAttempts(job),
    ...retriesLeft(run, job),
    ...remediationLeft(job),
    ...ruleAttempts(run, job),
    ...resetsLeft(run, job),
    ...requeuesLeft(run, job),
    ...gotosLeft(job),
  ];
  const isRouted =
    budgets.length > 0 || onFail.goto !== null || onFail.gotoJs !== null || job.step.failureEdges.length > 0;
  return [...budgets, ...(isRouted ? [loopsLeft(run, job)] : []), ...restartsLeft(run, job)];
}

function budget(kind: LeftBudget["kind"], left: number, of: number, words: string): LeftBudget {
  const rest = Math.max(0, left);
  return { kind, left: rest, of, text: `${rest} of ${of} ${words}` };
}

function operatorAttempts({ allowed, charged }: Job): LeftBudget[] {
  if (allowed === null) return [];
  return [
    budget("operator_attempts", allowed - charged, allowed, "attempts that the operator's retry allows"),
  ];
}

/** What the visit has left and max_loops allows. */
function retriesLeft(run: Run, job: Job): LeftBudget[] {
  const most = retryMax(run, job.step.definition);
  if (most <= 0) return [];
  const inVisit = Math.max(0, most - job.retriesInVisit - job.heal.resets);
  const { retries, loops, max } = loopCount(run, job, "retry");
  const allowed = Math.max(0, max - retries - loops);
  const cut = allowed < inVisit ? ` (max_loops: ${retryLoopText(run, job)})` : "";
  return [budget("retries", Math.min(inVisit, allowed), most, `retries of visit ${job.visit}${cut}`)];
}

function remediationLeft({ step, remediationsInVisit, visit }: Job): LeftBudget[] {
  const most = repairsInVisit(step.definition.onFail);
  if (most === 0) return [];
  return [budget("remediation", most - remediationsInVisit, most, `repairs of visit ${visit}`)];
}

function ruleAttempts(run: Run, job: Job): LeftBudget[] {
  const matched = job.error === null ? null : matchRule(run, job, job.error);
  if (matched === null || !("rule" in matched)) return [];
  const { maxAttempts } = matched.rule;
  const words = `attempts by rule ${matched.index + 1} of ${matched.handler.name}`;
  return [budget("rule_attempts", maxAttempts - job.charged, maxAttempts, words)];
}

function resetsLeft({ definition, workspace }: Run, { step }: Job): LeftBudget[] {
  const { selfHeal } = definition;
  if (!selfHeal || !step.definition.usesWorkspace) return [];
  const { maxResets } = selfHeal;
  return [budget("hard_resets", maxResets - workspace.resets, maxResets, "hard resets of this run")];
}

function requeuesLeft({ definition }: Run, job: Job): LeftBudget[] {
  if (!definition.queue) return [];
  const most = definition.queue.maxAttempts - 1;
  return [budget("requeues", most - job.queue.requeues, most, "requeues")];
}

function gotosLeft(job: Job): LeftBudget[] {
  return (["failure", "success"] as const).flatMap((trigger) => {
    const max = gotoBound(job, trigger);
    if (max === null) return [];
    return [budget(`gotos_after_${trigger}`, max - job.gotos[trigger], max, `gotos after a ${trigger}`)];
  });
}

function loopsLeft({ maxLoops }: Run, { scope }: Job): LeftBudget {
  return budget("loops", maxLoops - scope.loops, maxLoops, `loops${inScope(scope)}`);
}

function restartsLeft({ definition }: Run, { restartsInVisit }: Job): LeftBudget[] {
  if (restartsInVisit === 0) return [];
  const { maxRecoveries } = definition;
  return [budget("restarts", maxRecoveries - restartsInVisit, maxRecoveries, "restarts of this visit")];
}
