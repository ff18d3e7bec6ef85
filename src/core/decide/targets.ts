import type { EvaluationResult } from "../model/events.js";
import { gateState, resolve } from "../model/gate.js";
import { type GraphStep, isAncestor, stepNamed } from "../model/graph.js";
import { type Job, nextJobId, type Run, type Scope } from "../model/run.js";
import type { Decision } from "./decision.js";

/** The steps of `run` and `run_js` together, duplicates dropped, order kept; `notes` say what was refused. */
export function collectTargets(
  run: Run,
  job: Job,
  fixed: readonly string[],
  answer: EvaluationResult | undefined,
): { targets: { step: GraphStep }[]; notes: string[] } {
  const notes = answer?.ok === false ? [`run_js refused: ${answer.reason}`] : [];
  const dynamic = answer?.ok === true ? (answer.value as string[]) : [];
  const targets: { step: GraphStep }[] = [];
  for (const step of new Set(
    [...fixed, ...dynamic].flatMap((id) => stepNamed(run.graph, job.scope.opener?.step ?? null, id) ?? []),
  )) {
    const target = findTarget(job, step);
    if (target.ok) targets.push(target);
    else notes.push(`${step.definition.id} refused: ${target.reason}`);
  }
  return { targets, notes };
}

export interface GotoChoice {
  readonly target: Job;
  readonly by: "goto" | "goto_js";
  /** What came of `goto_js` before. */
  readonly note: string;
}

/** `goto_js` with a valid id wins; null or a refusal leaves the static goto in force. */
export function chooseGoto(
  run: Run,
  job: Job,
  fixed: string | null,
  answer: EvaluationResult | undefined,
): ({ readonly ok: true } & GotoChoice) | { readonly ok: false; readonly reason: string } {
  let note = "";
  if (answer !== undefined) {
    if (!answer.ok) note = `goto_js refused: ${answer.reason}; `;
    else if (answer.value !== null) {
      const dynamic = findAncestor(run, job, answer.value as string);
      if (dynamic.ok) return { ok: true, target: dynamic.job, by: "goto_js", note };
      note = `goto_js refused: ${dynamic.reason}; `;
    } else note = "goto_js returned null; ";
  }
  if (fixed === null) return { ok: false, reason: `${note}no goto` };
  const found = findAncestor(run, job, fixed);
  return found.ok
    ? { ok: true, target: found.job, by: "goto", note }
    : { ok: false, reason: note + found.reason };
}

type Found = { readonly ok: true; readonly job: Job } | { readonly ok: false; readonly reason: string };

function findAncestor(run: Run, job: Job, id: string): Found {
  const step = run.graph.byId.get(id);
  if (step === undefined) return { ok: false, reason: `there is no step ${id}` };
  if (!isAncestor(step, job.step))
    return { ok: false, reason: `${id} is not a step that ${job.step.definition.id} depends on` };
  const target = job.scope.jobs.get(step);
  // A routed step that a run list has brought into an item is nobody's ancestor there.
  if (target === undefined || step.path.length !== job.scope.depth)
    return { ok: false, reason: `${id} is outside the scope ${job.scope.id}` };
  return { ok: true, job: target };
}

/** A step that a run list names: the job to enter, or why it cannot be entered. */
type Target =
  | { readonly ok: true; readonly step: GraphStep; readonly job: Job | null }
  | { readonly ok: false; readonly reason: string };

/**
 * Find a run list's target in the scope of the job that routes to it. Not the step itself, nor one that depends on it
 * (it would wait for what waits for it); what the target depends on must be there.
 */
function findTarget(source: Job, step: GraphStep): Target {
  const stepId = step.definition.id;
  if (step === source.step) return { ok: false, reason: `${stepId} is the step itself` };
  if (step.atEnd !== null) return { ok: false, reason: `${stepId} runs only when the run ends` };
  if (isAncestor(source.step, step))
    return { ok: false, reason: `${stepId} depends on ${source.step.definition.id}` };
  const job = source.scope.jobs.get(step) ?? null;
  if (job === null && !isFreelyRouted(step))
    return { ok: false, reason: `${stepId} is outside the scope ${source.scope.id}` };
  if (job !== null && gateState(job.gate) !== "met")
    return { ok: false, reason: `a step that ${stepId} depends on has not completed` };
  if (job !== null && awaits(job, source))
    return { ok: false, reason: `${stepId} itself waits for ${source.step.definition.id}` };
  return { ok: true, step, job };
}

/**
 * Whether `job` cannot go on before `other` has: through what is left of its run list, or through what it depends on.
 * Two jobs that repaired each other would otherwise wait for ever.
 */
export function awaits(job: Job, other: Job): boolean {
  const seen = new Set([job]);
  for (const at of seen) {
    if (at === other) return true;
    for (const target of at.list?.jobs.slice(at.list.next) ?? []) seen.add(target);
    if (at.status === "blocked") for (const needed of dependenciesLeft(at)) seen.add(needed);
  }
  return false;
}

/** What a blocked job may still wait for; a reducer waits through its items, of which there may be none yet. */
function* dependenciesLeft(job: Job): Generator<Job> {
  const { groups, branchGroups, closes } = job.step;
  const steps = new Set(
    groups.filter((_, index) => branchGroups[index] === true || !job.gate.groups[index]!.met).flat(),
  );
  if (closes !== null) steps.add(closes);
  for (const step of steps) {
    const needed = resolve(step, job.scope);
    if (needed === null) for (const before of step.groups.flat()) steps.add(before);
    else if (needed.settledAs === null || needed.barrier !== null) yield needed;
  }
}

/** A routed step that depends on nothing belongs to every scope that routes to it. */
export function isFreelyRouted(step: GraphStep): boolean {
  return step.definition.start === "routed" && step.groups.length === 0;
}

/** The jobs of a list of targets, made where a scope is routed to for the first time. */
export function jobsOf(decision: Decision, source: Job, targets: readonly { step: GraphStep }[]): Job[] {
  return targets.map(({ step }) => jobIn(decision, source.scope, step));
}

/** The job of a step that belongs to every scope, made where the scope has none yet. */
export function jobIn(decision: Decision, scope: Scope, step: GraphStep): Job {
  if (!scope.jobs.has(step)) {
    const id = nextJobId(decision.run);
    decision.emit({ type: "job.created", job: id, step: step.definition.id, scope: scope.id });
  }
  return scope.jobs.get(step)!;
}
