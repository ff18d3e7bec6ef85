import { type Blamed, judge } from "../failure/judge.js";
import { isIdleAgain, judgeProgress, judgeRounds } from "../failure/no-progress.js";
import { refuseUserData, type UserData } from "../model/batch/user-data.js";
import type { OpenBreaker } from "../model/commands.js";
import type { AttemptCost, FileFacts, NoProgress } from "../model/events.js";
import type { Failure, FailureFacts } from "../model/failure.js";
import { costOf, type Failed, failedWith, type Outcome, type Succeeded } from "../model/outcome.js";
import type { Job, Run } from "../model/run.js";
import { nextOrdinal } from "../model/workspace-state.js";
import { endCalls } from "./calls.js";
import type { Decision } from "./decision.js";
import { openScopesOf } from "./fan-out.js";
import { causeOf, holdCause, suspend } from "./flow.js";
import { followUp } from "./follow-up.js";
import { refuseItems } from "./item-limit.js";
import { climb } from "./ladder/ladder.js";
import { breakersFor } from "./ladder/park.js";
import { promoteWorkspace } from "./rebuild.js";
import { goOnAfterStop } from "./start.js";

/** `open`: the breakers of the step that are open. */
export function finishAttempt(
  decision: Decision,
  job: Job,
  outcome: Outcome,
  open: readonly OpenBreaker[] = [],
): void {
  const { stopping } = job;
  const isUnwanted = stopping === "superseded" || stopping === "reset";
  if (isUnwanted || (stopping !== null && outcome.kind !== "failed"))
    return endStopped(decision, job, costOf(outcome));
  if (outcome.kind === "suspended") return suspend(decision, job, outcome);
  const unfit = outcome.kind === "succeeded" ? refuseOutput(decision.run, job, outcome) : null;
  const ended = unfit ?? outcome;
  if (ended.kind === "succeeded") succeedAttempt(decision, job, ended);
  else failAttempt(decision, job, ended, open);
}

/**
 * A forEach step's output becomes scopes: one that cannot is the step's failure, before any is opened. So is user data that
 * a worker did not bring although others will read it.
 */
function refuseOutput(run: Run, job: Job, outcome: Succeeded): Failed | null {
  const { items = null } = outcome;
  const refuse = (): FailureFacts | null =>
    items === null
      ? { code: "NOT_AN_ARRAY", message: "a forEach step's output must be an array" }
      : refuseItems(run, job, items.length);
  const { definition } = job.step;
  const facts = definition.forEach ? refuse() : refuseUserData(definition, outcome.user_data ?? {});
  return facts === null ? null : { ...failedWith(facts, outcome), output: outcome.output };
}

function succeedAttempt(decision: Decision, job: Job, outcome: Succeeded): void {
  const first = job.settledAs === null;
  const items = job.step.definition.forEach ? (outcome.items ?? null) : null;
  const leavesCheckpoint = job.step.definition.usesWorkspace && job.step.atEnd === null;
  const made = leavesCheckpoint ? (outcome.checkpoint ?? null) : null;
  const succeeded = {
    type: "attempt.succeeded",
    job: job.id,
    attempt: job.attempt,
    output: outcome.output,
    items,
    checkpoint: made === null ? null : { ...made, ordinal: nextOrdinal(decision.run) },
    ...costOf(outcome),
  } as const;
  decision.emit({
    ...succeeded,
    ...(outcome.usage === undefined ? {} : { usage: outcome.usage }),
    ...(outcome.below === undefined ? {} : { below: outcome.below }),
    ...filesOnRecord(job, outcome),
    ...userDataOnRecord(job, outcome),
  });
  promoteWorkspace(decision, job);
  endCalls(decision, job);
  if (job.followingUp) return followUp(decision, job);
  if (first) openScopesOf(decision, job);
  decision.add({ kind: "settled", jobs: [job] });
}

/** Records only files that the step declares, because a worker may report any. */
function filesOnRecord({ step }: Job, { files }: Succeeded): { readonly files?: readonly FileFacts[] } {
  const declared = step.definition.files;
  if (declared === undefined || files === undefined) return {};
  const known = { input: new Set(declared.inputs), output: new Set(declared.outputs) };
  return { files: files.filter(({ role, path }) => known[role].has(path)) };
}

function userDataOnRecord({ step }: Job, { user_data }: Succeeded): { readonly user_data?: UserData } {
  const isWritten = (step.definition.userData?.outputs ?? []).length > 0;
  return isWritten && user_data !== undefined ? { user_data } : {};
}

function failAttempt(
  decision: Decision,
  job: Job,
  outcome: Exclude<Outcome, Succeeded>,
  open: readonly OpenBreaker[],
): void {
  const left = outcome.kind === "failed" ? outcome : null;
  const cause = left === null ? null : causeOf(decision.run, job, left.facts);
  if (cause !== null && holdCause(decision, job, cause, left!)) return;
  decision.emit({
    type: "attempt.failed",
    job: job.id,
    attempt: job.attempt,
    ...judgeAttempt(decision, job, outcome, open),
    ...(left?.facts.patch === undefined ? {} : { patch: left.facts.patch }),
    ...(left?.output === undefined ? {} : { output: left.output }),
    ...(cause === null ? {} : { because: cause.id }),
    ...costOf(outcome),
  });
  climb(decision, job);
  decision.add({ kind: "barriers" });
}

/** The attempt ended because the engine wanted it to; a barrier may have waited for just that. */
export function endStopped(decision: Decision, job: Job, cost: AttemptCost): void {
  const because = job.stopping ?? "canceled";
  decision.emit({ type: "attempt.stopped", job: job.id, attempt: job.attempt, because, ...cost });
  decision.add({ kind: "barriers" });
  if (because !== "reset") decision.add(() => goOnAfterStop(decision, job));
}

/** A failure that reaches the no-progress limit is of the class `stuck_no_progress`, and so is a second silence. */
function judgeAttempt(
  decision: Decision,
  job: Job,
  outcome: Exclude<Outcome, Succeeded>,
  open: readonly OpenBreaker[],
): { error: Failure; no_progress: NoProgress | null; breakers?: readonly string[] } {
  const { noProgressLimit } = job.step.definition;
  const error = judge(outcome, blamed(decision, job, job.attempt));
  const breakers = breakersFor(decision.run, job, error, open);
  if (breakers.length > 0) return { error, no_progress: null, breakers };
  const inVisit =
    typeof noProgressLimit === "number" ? judgeProgress(job.heal, error, noProgressLimit) : null;
  const noProgress = judgeRounds(decision.run, job, error) ?? inVisit;
  if (noProgress === null && !isIdleAgain(job.heal, error)) return { error, no_progress: null };
  return {
    error: { ...error, class: "stuck_no_progress", original_class: error.class },
    no_progress: noProgress,
  };
}

/** `attempt` is null where the step has failed before it could make one. */
export function blamed({ now }: Decision, { id, step }: Job, attempt: number | null): Blamed {
  const { id: step_id, action } = step.definition;
  return { action: action.type, step_id, job_id: id, attempt, at: now };
}
