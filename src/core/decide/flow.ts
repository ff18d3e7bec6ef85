import type { Command } from "../model/commands.js";
import type { ScopeItem } from "../model/events.js";
import type { FailureFacts } from "../model/failure.js";
import { awaitsCall, calledSince, isCalled, isProgram, MAP, programOf, WAIT } from "../model/flow.js";
import { costOf, type Failed, type Suspended } from "../model/outcome.js";
import { findJob, isSettled, type Job, nextJobId, type Run, type Scope } from "../model/run.js";
import { withoutUsual } from "../model/stored-definition.js";
import { orderedJson } from "../text/json.js";
import type { Decision } from "./decision.js";
import { holdDue } from "./ladder/hold.js";
import { reuse } from "./start.js";

type Declare = Extract<Command, { type: "step.declare" }>;

/** What the program says counts only while its attempt is under way: what an earlier one says comes too late. */
export function declareStep(decision: Decision, command: Declare): void {
  const { run } = decision;
  const { by, attempt, step, after, source, items } = command;
  const program = findJob(run, by);
  const scope = run.scopes.get(command.scope);
  if (program === null || !isProgram(program)) return;
  if (program.status !== "running" || program.attempt !== attempt) return;
  if (program.stopping !== null || scope?.open !== true) return;
  const known = calledBefore(run, scope, step);
  if (known !== null && isSettled(known.status)) return openFurther(decision, known, items);
  const definition = newDefinition(run, scope, known, command);
  if (known !== null && isCalled(known) && definition === null) return;
  decision.emit({
    type: "step.declared",
    job: known?.id ?? nextJobId(run),
    by,
    attempt,
    scope: scope.id,
    step,
    definition,
    ...(definition === null || command.repairs.length === 0 ? {} : { repairs: command.repairs }),
    after: Math.min(after, run.outcomes),
    ...(source === null ? {} : { source }),
  });
  begin(decision, calledBefore(run, scope, step)!, items ?? []);
}

/** By what the program calls it: the name in its scope. */
export function calledBefore({ graph }: Run, scope: Scope, step: string): Job | null {
  const named = graph.called.get(scope.opener?.step ?? null)?.get(step);
  const found = named === undefined ? undefined : scope.jobs.get(named);
  if (found !== undefined) return found;
  // Called otherwise in another item since.
  for (const job of named === undefined ? [] : scope.jobs.values())
    if (job.step.definition.id === step) return job;
  return null;
}

/** Null: what is known of the step holds for this call as well. What is at work ends as it began. */
function newDefinition(run: Run, scope: Scope, known: Job | null, { step, definition, repairs }: Declare) {
  if (known !== null && !mayChange(known)) return null;
  const opener = scope.opener?.step ?? null;
  const named = run.graph.called.get(opener);
  const before = known?.step ?? named?.get(step);
  if (before === undefined) return definition;
  const { id: _, ...old } = withoutUsual(before.definition);
  const isAlike =
    orderedJson(old) === orderedJson(definition) &&
    repairs.every((repair) => {
      const one = named?.get(String(repair.id));
      return one !== undefined && orderedJson(withoutUsual(one.definition)) === orderedJson(repair);
    });
  return isAlike ? null : definition;
}

function mayChange({ status, question, step }: Job): boolean {
  if (status === "waiting") return question === null && step.definition.action.type !== WAIT;
  return status === "blocked" || status === "ready" || status === "held";
}

/** It waits for nothing but this call. What is under way, or waits for something else, goes on as it is. */
function begin(decision: Decision, job: Job, items: readonly string[]): void {
  const waiting = job.list?.jobs[job.list.next];
  if (waiting?.visitFor?.by === job && waiting.status === "blocked")
    return decision.emit({ type: "jobs.ready", jobs: [waiting.id], reason: "called" });
  if (job.status !== "blocked" || job.barrier !== null || reuse(decision, job)) return;
  const { action } = job.step.definition;
  if (action.type === WAIT) return beginWait(decision, job);
  if (action.type === MAP) return giveItems(decision, job, items);
  decision.emit({ type: "jobs.ready", jobs: [job.id], reason: "called" });
}

/** Until a moment, or for so long. */
function beginWait(decision: Decision, job: Job): void {
  const { until, ms } = job.step.definition.action;
  const dueAt = typeof until === "number" ? until : decision.now + Number(ms ?? 0);
  decision.emit({ type: "wait.begun", job: job.id, due_at: dueAt });
}

/** The moment that it waited for has come. */
export function endWait(decision: Decision, job: Job): void {
  decision.emit({ type: "job.given", job: job.id, output: { kind: "value", value: null }, items: null });
  decision.add({ kind: "settled", jobs: [job] });
}

function giveItems(decision: Decision, job: Job, keys: readonly string[]): void {
  const items = keys.map((key) => ({ key }));
  decision.emit({ type: "job.given", job: job.id, output: { kind: "value", value: [...keys] }, items });
  decision.emit({ type: "scopes.opened", job: job.id, generation: job.visit, items });
  decision.add({ kind: "settled", jobs: [job] });
}

/** The program has more items than at first: those on record keep their scopes. */
function openFurther(decision: Decision, job: Job, keys: readonly string[] = []): void {
  if (job.step.definition.action.type !== MAP || job.status !== "completed") return;
  const known: readonly ScopeItem[] = job.items ?? [];
  const there = new Set(known.map(({ key }) => key));
  const further = keys.filter((key) => !there.has(key)).map((key) => ({ key }));
  if (further.length === 0) return;
  decision.emit({
    type: "scopes.opened",
    job: job.id,
    generation: job.visit,
    items: [...known, ...further],
  });
}

/** The program waits in no process. */
export function suspend(decision: Decision, job: Job, outcome: Suspended): void {
  decision.emit({
    type: "attempt.suspended",
    job: job.id,
    attempt: job.attempt,
    awaits: outcome.awaits,
    ...costOf(outcome),
  });
}

/**
 * Where the program has just let go, nobody can execute its functions. Something that a suspended one waits for has an
 * outcome, or needs it to go on: the program goes on itself.
 */
export function wakeProgram(decision: Decision): void {
  const { run } = decision;
  const program = programOf(run);
  if (program === null || program.status === "running") return;
  const stranded = [...run.ready].filter(awaitsCall).map(({ id }) => id);
  if (stranded.length > 0) decision.emit({ type: "calls.awaited", jobs: stranded, reason: "called" });
  if (program.status !== "blocked" || program.barrier !== null) return;
  const { awaits } = program.program ?? { awaits: null };
  if (awaits === null || run.cancelRequested !== null) return;
  if (awaits.some((job) => isSettled(job.status) || needsProgram(job)))
    decision.emit({ type: "jobs.ready", jobs: [program.id], reason: "outcome" });
}

/** It begins, or a function that repairs it does, when the program has called it again. */
function needsProgram(job: Job): boolean {
  if (job.barrier !== null) return false;
  const repair = job.list?.jobs[job.list.next];
  return job.status === "blocked" || (repair?.status === "blocked" && awaitsCall(repair));
}

/** The step whose failure its program has ended with. */
export function causeOf(run: Run, program: Job, { because }: FailureFacts): Job | null {
  const cause = because === undefined ? null : findJob(run, because);
  return cause?.call?.by === program && cause.status === "failed" ? cause : null;
}

/**
 * With `unhandled: hold` a failure that the program did not catch is put to people in the place of the step that failed, and
 * the program waits for that. If it called something else after it had the failure, it has answered it: then it has failed itself.
 */
export function holdCause(decision: Decision, program: Job, cause: Job, outcome: Failed): boolean {
  const { run } = decision;
  if (run.definition.unhandled !== "hold" || cause.call!.isGiven || program.stopping !== null) return false;
  if (!run.options.failure_routing || run.options.only !== null) return false;
  if (cause.step.definition.action.type === WAIT || calledSince(run, cause).length > 0) return false;
  const { code = "FAILED", message = "failed" } = cause.failure ?? {};
  decision.emit({
    type: "job.held",
    job: cause.id,
    code,
    message,
    ...holdDue(decision, cause),
    uncaught: true,
  });
  suspend(decision, program, { ...outcome, kind: "suspended", awaits: [cause.id] });
  return true;
}
