import type { StopReason } from "./events.js";
import { buildGate, emptyGate, settleGates } from "./gate.js";
import type { GraphStep } from "./graph.js";
import { outcomeOf } from "./handled.js";
import { newHealState, newQueueState } from "./heal-state.js";
import type { JobStatus } from "./rows.js";
import { change, JOB_IDS_PER_RUN, type Job, type Run, type Scope } from "./run.js";

/** Add a job to its scope; its id is the next of the run. */
export function addJob(run: Run, step: GraphStep, scope: Scope): Job {
  const job: Job = {
    id: run.id * JOB_IDS_PER_RUN + run.jobs.length + 1,
    step,
    scope,
    status: "blocked",
    attempt: 0,
    attemptStartedAt: null,
    attemptVisit: 0,
    attemptToken: null,
    attemptWorker: null,
    visit: 1,
    entered: false,
    gate: emptyGate(),
    settledAs: null,
    join: null,
    retriesInVisit: 0,
    retriesInRun: 0,
    gotos: newGotos(),
    heal: newHealState(),
    queue: newQueueState(),
    reset: null,
    climbed: [],
    restartsInVisit: 0,
    remediatedInVisit: false,
    charged: 0,
    allowed: null,
    recovery: null,
    question: null,
    route: null,
    routedFrom: null,
    outcomes: new Map(),
    error: null,
    failure: null,
    handled: null,
    partOf: null,
    output: null,
    history: [],
    dueAt: null,
    waitMs: 0,
    stopping: null,
    barrier: null,
    evaluation: null,
    answers: {},
    conditionAnswers: {},
    list: null,
    followingUp: false,
    items: null,
    requests: [],
    visitFor: null,
    beforeVisit: {
      status: "blocked",
      error: null,
      failure: null,
      handled: null,
      partOf: null,
      output: null,
      route: null,
      routedFrom: null,
    },
  };
  run.jobs.push(job);
  scope.jobs.set(step, job);
  run.dirty.add(job);
  return job;
}

export function newGotos(): Job["gotos"] {
  return { failure: 0, success: 0 };
}

/** What a job has spent over all its visits begins anew. */
export function renewRouting(job: Job): void {
  job.retriesInRun = 0;
  job.gotos = newGotos();
}

/** Budgets and marks that belong to one visit. */
export function beginVisit(job: Job): void {
  if (job.entered && job.step.isEdgeTarget) job.outcomes.set(job.visit, outcomeOf(job));
  if (job.entered) job.visit += 1;
  job.entered = false;
  job.retriesInVisit = 0;
  job.heal = newHealState();
  job.queue.dead = false;
  job.restartsInVisit = 0;
  job.remediatedInVisit = false;
  job.error = null;
  job.failure = null;
  job.handled = null;
  job.partOf = null;
  job.route = null;
  job.routedFrom = null;
  dropWork(job);
}

/** A failure that led to `visit` is handled if the visit that an operator gave in its place completes. */
export function carryRouteOn(job: Job, visit: number): void {
  const outcome = job.outcomes.get(visit);
  if (outcome === undefined || outcome.completed || outcome.handled || job.visit === visit) return;
  job.outcomes.set(visit, { ...outcome, route: { target: job, visit: job.visit } });
}

/** Forget whatever the job was waiting for or in the middle of. */
export function dropWork(job: Job): void {
  job.dueAt = null;
  job.evaluation = null;
  job.answers = {};
  job.conditionAnswers = {};
  job.list = null;
  job.followingUp = false;
  job.recovery = null;
  job.question = null;
  job.reset = null;
  job.queue.waiting = false;
}

/** The visit that a run list had entered is over before its time: the job is again what it was before. */
export function leaveVisitEarly(run: Run, job: Job): void {
  change(run, job, () => {
    dropWork(job);
    Object.assign(job, job.beforeVisit);
    job.stopping = null;
    job.visitFor = null;
  });
  if (job.status === "failed" && job.settledAs === null) run.routed.add(job);
}

/** What a job that was ended while it ran is canceled with. */
export function codeOfStop(because: StopReason | null): string {
  if (because === "fail_fast") return "FAIL_FAST";
  return because === "loop_budget" ? "LOOP_BUDGET_EXCEEDED" : "RUN_CANCELED";
}

/** As if it had never run in this visit: blocked, its output gone, its dependents untold. */
export function invalidate(run: Run, job: Job): void {
  change(run, job, () => {
    beginVisit(job);
    job.status = "blocked";
    job.settledAs = null;
    job.join = null;
    job.output = null;
    job.items = null;
    job.stopping = null;
    job.visitFor = null;
  });
}

export function rebuildGate(job: Job): void {
  job.gate = buildGate(job.step, job.scope, false);
}

/** The job is over for now; its dependents are told, unless an earlier visit has told them. */
export function settle(run: Run, job: Job, status: JobStatus, as: "met" | "lost"): void {
  const told = job.settledAs !== null;
  change(run, job, () => {
    job.status = status;
    job.stopping = null;
    dropWork(job);
    job.settledAs ??= as;
  });
  if (!told) settleGates(run, job, as, status === "failed" || status === "canceled");
}

/** How long its attempt has been under way; never less than nothing, though the clock was set back. */
export function attemptDuration({ attemptStartedAt }: Job, now: number): number {
  return Math.max(0, now - (attemptStartedAt ?? now));
}
