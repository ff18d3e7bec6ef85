import { noteCompletion } from "../model/ending/run-ending.js";
import type { EventOf, FlowEvent } from "../model/events.js";
import { addCalled, type GraphStep } from "../model/graph.js";
import { addJob, forgetTrouble, rememberOutput, settle } from "../model/jobs.js";
import { change, findJob, type Job, jobById, type Run, type Scope } from "../model/run.js";
import { completeStep } from "../model/stored-definition.js";

/** What the program of a flow calls, and what becomes of it where no worker executes it. */
export function evolveFlow(run: Run, event: FlowEvent, at: number): void {
  switch (event.type) {
    case "step.declared":
      return declareStep(run, event);
    case "calls.awaited":
      for (const id of event.jobs)
        change(run, jobById(run, id), (job) => {
          job.status = "blocked";
          job.entered = true;
          job.dueAt = null;
          job.parked = null;
        });
      return;
    case "wait.begun":
      return change(run, jobById(run, event.job), (job) => {
        job.status = "waiting";
        job.entered = true;
        job.dueAt = event.due_at;
        job.waitMs = event.due_at === null ? 0 : event.due_at - at;
      });
    case "job.given":
      return giveJob(run, jobById(run, event.job), event);
    case "attempt.suspended":
      return change(run, jobById(run, event.job), (job) => {
        job.status = "blocked";
        job.program = { ...job.program!, awaits: event.awaits.map((id) => jobById(run, id)) };
        // To wait is no attempt that failed.
        job.charged -= 1;
      });
  }
}

/** The run's graph has one step more, and the scope one job. Called again, an unsettled job takes its new definition. */
function declareStep(run: Run, event: EventOf<"step.declared">): void {
  const { job: id, by, attempt, after, source = null } = event;
  const scope = run.scopes.get(event.scope)!;
  const known = findJob(run, id);
  const step = stepOf(run, event, scope, known);
  const path = pathOf(scope);
  for (const repair of event.repairs ?? []) addCalled(run.graph, completeStep(repair), path);
  const call = { by: jobById(run, by), attempt, after, outcome: 0, settledAt: 0, source, isGiven: false };
  if (known === null) {
    addJob(run, step, scope).call = call;
    return;
  }
  if (known.step !== step) {
    scope.jobs.delete(known.step);
    scope.jobs.set(step, known);
  }
  change(run, known, () => {
    (known as { step: GraphStep }).step = step;
    known.call = call;
  });
}

/** In other items there may be the same step already. */
function stepOf(
  run: Run,
  { step: id, definition }: EventOf<"step.declared">,
  scope: Scope,
  known: Job | null,
) {
  const beside = known?.step ?? run.graph.called.get(scope.opener?.step ?? null)?.get(id);
  if (definition === null && beside !== undefined) return beside;
  return addCalled(run.graph, completeStep({ id, ...definition }), pathOf(scope));
}

function pathOf(scope: Scope): GraphStep[] {
  const path: GraphStep[] = [];
  for (let at: Scope | null = scope; at?.opener != null; at = at.parent) path.unshift(at.opener.step);
  return path;
}

function giveJob(run: Run, job: Job, { output, items }: EventOf<"job.given">): void {
  job.entered = true;
  job.items = items;
  forgetTrouble(job);
  rememberOutput(job, output);
  noteCompletion(run, job);
  settle(run, job, "completed", "met");
}

/** What a job was called with counts no more: it begins when its program calls it again. */
export function takeBackCall(job: Job): void {
  if (job.call !== null) job.call = { ...job.call, attempt: 0, outcome: 0 };
}
