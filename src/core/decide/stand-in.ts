import { givenUserData } from "../model/batch/user-data.js";
import type { StepDefinition } from "../model/definition.js";
import type { EvaluationResult, ScopeItem } from "../model/events.js";
import type { FailureFacts } from "../model/failure.js";
import { type WayOfFailure, wayOf } from "../model/handled.js";
import { failuresLedTo, isOver, type Job, type Run } from "../model/run.js";
import { ask } from "./ask.js";
import type { Decision } from "./decision.js";
import { openScopesOf } from "./fan-out.js";
import { refuseItems } from "./item-limit.js";
import { failFast, failJob, mayBeTolerated } from "./ladder/fail.js";

/** A visit to which failures may have led is over: those whose way ends with it are settled. */
export function endRoutesTo(decision: Decision, target: Job): void {
  for (const source of failuresLedTo(target)) {
    decision.add(() => {
      const way = wayOf(source);
      if (way !== null && !way.open && isUnsettled(decision.run, source)) endRoute(decision, source, way);
    });
  }
}

/** Whether its dependents have not been told what became of its failure. */
function isUnsettled(run: Run, job: Job): boolean {
  if (job.status !== "failed" || job.barrier !== null) return false;
  if (job.evaluation !== null || job.stoodInBy !== null) return false;
  return run.routed.has(job) || job.settledAs === "met";
}

/**
 * Ends a route. If the dependents are to be skipped, a later visit may still complete, which is only known when the run
 * rests.
 */
function endRoute(decision: Decision, source: Job, way: WayOfFailure): void {
  if (way.then === "fail") return failForGood(decision, source);
  if (way.then === "skip" || !way.completed) return;
  // It has gone back since: its next visit may have something to give.
  if (way.end?.output == null) return;
  // A run that is given up has no use for it.
  if (decision.run.cancelRequested !== null) return;
  if (promisesAnything(source.step.definition)) ask(decision, source, "stand_in");
  else standIn(decision, source, way.end, null);
}

/** Its dependents are canceled, however the route ended; `fail_fast` has waited for that. */
function failForGood(decision: Decision, source: Job): void {
  if (!decision.run.routed.has(source)) return;
  decision.emit({ type: "routes.settled", handled: [], unhandled: [source.id] });
  decision.add({ kind: "settled", jobs: [source] });
  decision.add(() => {
    if (!isOver(decision.run) && !mayBeTolerated(source)) failFast(decision, source);
  });
}

/** What its dependents may count on must be looked at before another job's output takes the place of its own. */
function promisesAnything({ outputSchema, forEach, files, userData }: StepDefinition): boolean {
  if (outputSchema !== null || forEach) return true;
  return (files?.outputs.length ?? 0) > 0 || (userData?.outputs.length ?? 0) > 0;
}

/** It is known whether the other job's output keeps what the failed one promises. */
export function finishStandIn(decision: Decision, source: Job, result: EvaluationResult): void {
  const way = wayOf(source);
  if (source.status !== "failed" || way === null || way.end === null) return;
  const { forEach } = source.step.definition;
  if (!result.ok) return failJob(decision, source, result.code, result.reason);
  const items = forEach ? (result.value as unknown as readonly ScopeItem[]) : null;
  const refused =
    missingUserData(decision.run, source) ??
    (items === null ? null : refuseItems(decision.run, source, items.length));
  if (refused !== null)
    return failJob(decision, source, refused.code ?? "OUTPUT_INVALID", refused.message ?? "");
  standIn(decision, source, way.end, items);
}

function missingUserData(run: Run, { step }: Job): FailureFacts | null {
  const names = step.definition.userData?.outputs ?? [];
  const there = givenUserData(run, names);
  const missing = names.find((name) => !Object.hasOwn(there, name));
  if (missing === undefined) return null;
  return { code: "OUTPUT_MISSING", message: `nobody has written the user data ${missing}` };
}

/** From now on its dependents see it as completed, with the output of the job that its failure has led to. */
function standIn(decision: Decision, source: Job, by: Job, items: readonly ScopeItem[] | null): void {
  const first = source.settledAs === null;
  decision.emit({ type: "job.stood_in", job: source.id, by: by.id, items });
  if (first) openScopesOf(decision, source);
  decision.add({ kind: "settled", jobs: [source] });
}
