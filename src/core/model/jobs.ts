import type { Json } from "../text/json.js";
import type { Output, StopReason } from "./events.js";
import type { Call } from "./flow.js";
import { buildGate, OPEN_GATE, settleGates } from "./gate.js";
import type { GraphStep } from "./graph.js";
import { outcomeOf } from "./handled.js";
import { NEW_HEAL_STATE, NEW_QUEUE_STATE } from "./heal-state.js";
import type { VisitOutcome } from "./route.js";
import type { JobStatus } from "./rows.js";
import {
  type BeforeVisit,
  change,
  type Job,
  nextJobId,
  type Run,
  type Scope,
  type VisitRequest,
} from "./run.js";
import { NOWHERE } from "./worker-names.js";

const NO_GOTOS: Job["gotos"] = Object.freeze({ failure: 0, success: 0 });
const NO_BREAKERS: Job["openBreakers"] = Object.freeze([]);
const NO_RUNGS: Job["climbed"] = Object.freeze([]);
const NO_OUTPUTS: Job["history"] = Object.freeze([]);
/** Very many jobs put out nothing: they share it, and the history in which it stands alone. */
const NOTHING: ReadonlyMap<Json, readonly Output[]> = new Map(
  [null, ""].map((value) => [value, Object.freeze([Object.freeze({ kind: "value", value } as const)])]),
);
const NO_ANSWERS = Object.freeze({});
const NO_VISITS: Job["requests"] = Object.freeze([]);
const NO_REPAIRS: Job["repairs"] = Object.freeze([]);
const NO_FILES: Job["earlierFiles"] = Object.freeze([]);
const NO_SOURCES: Job["routedHere"] = new Set();
const NO_OUTCOMES: Job["outcomes"] = new Map();
const NEVER_VISITED: BeforeVisit = Object.freeze({
  status: "blocked",
  error: null,
  failure: null,
  handled: null,
  stoodInBy: null,
  decided: null,
  below: null,
  partOf: null,
  output: null,
  failedOutput: null,
  route: null,
  ledBy: null,
});

/** A job to which nothing has happened yet. */
export function newJob(id: number, step: GraphStep, scope: Scope): Job {
  return {
    id,
    step,
    scope,
    status: "blocked",
    attempt: 0,
    attemptStartedAt: null,
    attemptVisit: 0,
    attemptToken: null,
    attemptWorker: null,
    attemptPlace: NOWHERE,
    attemptPlaced: null,
    repaired: false,
    outcomeDueSince: null,
    visit: 1,
    earlierFiles: NO_FILES,
    leftBehind: null,
    entered: false,
    gate: OPEN_GATE,
    settledAs: null,
    join: null,
    retriesInVisit: 0,
    retriesInRun: 0,
    gotos: NO_GOTOS,
    heal: NEW_HEAL_STATE,
    queue: NEW_QUEUE_STATE,
    round: null,
    reset: null,
    climbed: NO_RUNGS,
    restartsInVisit: 0,
    openBreakers: NO_BREAKERS,
    parked: null,
    letThrough: false,
    remediationsInVisit: 0,
    charged: 0,
    retriedByExpiry: false,
    allowed: null,
    raised: null,
    used: null,
    recovery: null,
    question: null,
    route: null,
    ledBy: null,
    ownFailure: null,
    repairs: NO_REPAIRS,
    hint: null,
    routedHere: NO_SOURCES,
    outcomes: NO_OUTCOMES,
    error: null,
    failure: null,
    handled: null,
    stoodInBy: null,
    skippedBy: null,
    decided: null,
    below: null,
    partOf: null,
    output: null,
    failedOutput: null,
    history: NO_OUTPUTS,
    dueAt: null,
    waitMs: 0,
    stopping: null,
    barrier: null,
    evaluation: null,
    answers: NO_ANSWERS,
    conditionAnswers: NO_ANSWERS,
    list: null,
    followingUp: false,
    items: null,
    requests: NO_VISITS,
    visitFor: null,
    beforeVisit: NEVER_VISITED,
    call: null,
    program: null,
  };
}

/** Add a job to its scope; its id is the next of the run. */
export function addJob(run: Run, step: GraphStep, scope: Scope): Job {
  const job = newJob(nextJobId(run), step, scope);
  run.jobs.push(job);
  scope.jobs.set(step, job);
  run.dirty.add(job);
  return job;
}

export function rememberBreakers(job: Job, open: readonly string[] | undefined): void {
  job.openBreakers = open ?? NO_BREAKERS;
}

/** Forgets gotos, because an operator has restarted what its failures led to. */
export function forgetLoops(job: Job): void {
  job.gotos = NO_GOTOS;
  job.round = null;
}

/** The job has completed with this output once more. */
export function rememberOutput(job: Job, given: Output): void {
  const nothing = given.kind === "value" ? NOTHING.get(given.value) : undefined;
  const output = nothing?.[0] ?? given;
  job.output = output;
  if (nothing !== undefined && job.history === NO_OUTPUTS) job.history = nothing;
  else if (Object.isFrozen(job.history)) job.history = [...job.history, output];
  else (job.history as Output[]).push(output);
}

function rememberOutcome(job: Job, visit: number, outcome: VisitOutcome): void {
  if (job.outcomes === NO_OUTCOMES) job.outcomes = new Map();
  (job.outcomes as Map<number, VisitOutcome>).set(visit, outcome);
}

/**
 * What the visit came to, for the failures that led to it. One that was given up stays so, whatever the job fell back to.
 * What a transition says of a failure counts only in the visit that stays the last.
 */
function endVisit(job: Job): void {
  if (!job.step.isEdgeTarget || job.outcomes.has(job.visit)) return;
  const outcome = outcomeOf(job);
  const route = outcome.route === null ? null : { ...outcome.route, then: null };
  rememberOutcome(job, job.visit, { ...outcome, route });
}

export function rememberSource(target: Job, source: Job): void {
  if (target.routedHere === NO_SOURCES) target.routedHere = new Set();
  (target.routedHere as Set<Job>).add(source);
}

/** Forgets repairs. An attempt has failed again without being lost, so earlier repairs are no longer new. */
export function forgetRepairs(job: Job): void {
  job.repairs = NO_REPAIRS;
}

/** Forgets past failures of a job that is over, so that nobody who reads it later sees them. */
export function forgetTrouble(job: Job): void {
  job.error = null;
  job.failedOutput = null;
  job.ownFailure = null;
  job.repairs = NO_REPAIRS;
}

export function forgetAnswers(job: Job): void {
  job.answers = NO_ANSWERS;
  job.conditionAnswers = NO_ANSWERS;
}

export function addRequest(job: Job, request: VisitRequest): void {
  if (job.requests === NO_VISITS) job.requests = [request];
  else (job.requests as VisitRequest[]).push(request);
}

/** The visit that is next. */
export function takeRequest(job: Job): VisitRequest | null {
  return job.requests === NO_VISITS ? null : ((job.requests as VisitRequest[]).shift() ?? null);
}

export function dropRequest(job: Job, by: Job): void {
  const asked = job.requests.findIndex((request) => request.by === by);
  if (asked >= 0) (job.requests as VisitRequest[]).splice(asked, 1);
}

export function dropRequests(job: Job): void {
  job.requests = NO_VISITS;
}

/** Resets what a job has used up over all its visits. */
export function renewRouting(job: Job): void {
  job.retriesInRun = 0;
  forgetLoops(job);
}

/** Budgets and marks that belong to one visit. */
export function beginVisit(job: Job): void {
  if (job.entered) {
    endVisit(job);
    job.visit += 1;
  }
  job.entered = false;
  job.outcomeDueSince = null;
  job.retriesInVisit = 0;
  job.heal = NEW_HEAL_STATE;
  if (job.queue.dead) job.queue = { ...job.queue, dead: false };
  job.restartsInVisit = 0;
  job.remediationsInVisit = 0;
  job.earlierFiles = NO_FILES;
  job.leftBehind = null;
  job.error = null;
  job.failure = null;
  job.handled = null;
  job.stoodInBy = null;
  job.skippedBy = null;
  job.decided = null;
  job.below = null;
  job.partOf = null;
  job.route = null;
  job.ledBy = null;
  job.ownFailure = null;
  job.failedOutput = null;
  job.repairs = NO_REPAIRS;
  job.hint = null;
  dropWork(job);
}

/** A failure that led to `visit` is handled if the visit that an operator gave in its place completes. */
export function carryRouteOn(job: Job, visit: number): void {
  const outcome = job.outcomes.get(visit);
  if (outcome === undefined || outcome.completed || outcome.handled || job.visit === visit) return;
  rememberOutcome(job, visit, { ...outcome, route: { target: job, visit: job.visit, then: null } });
}

/** Forget whatever the job was waiting for or in the middle of. */
export function dropWork(job: Job): void {
  job.dueAt = null;
  job.evaluation = null;
  forgetAnswers(job);
  job.list = null;
  job.followingUp = false;
  job.recovery = null;
  job.question = null;
  job.reset = null;
  job.parked = null;
  job.letThrough = false;
  if (job.queue.waiting) job.queue = { ...job.queue, waiting: false };
}

/**
 * The visit that a run list had entered is over before its time: the job is again what it was before. Its number is used
 * up: a failure that led to this visit is not handled by the one before it, and a step that has not run can still be asked.
 */
export function leaveVisitEarly(run: Run, job: Job): void {
  change(run, job, () => {
    endVisit(job);
    job.entered = true;
    if (job.beforeVisit.status === "blocked") beginVisit(job);
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
  if (because === "flow_ended") return "FLOW_ENDED";
  return because === "loop_budget" ? "LOOP_BUDGET_EXCEEDED" : "RUN_CANCELED";
}

/**
 * Resets a job as if it had never run in this visit: it is blocked, its output is gone, and its dependents have not
 * been told.
 */
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
    if (job.call !== null) job.call = { ...job.call, outcome: 0, isGiven: false };
    if (job.program !== null) job.program = { ...job.program, awaits: null, because: null };
  });
}

export function rebuildGate(job: Job): void {
  job.gate = buildGate(job.step, job.scope, false);
}

/** Settles the job. Its dependents are told, unless an earlier visit has told them. */
export function settle(run: Run, job: Job, status: JobStatus, as: "met" | "lost"): void {
  const told = job.settledAs !== null;
  change(run, job, () => {
    job.status = status;
    job.stopping = null;
    dropWork(job);
    job.settledAs ??= as;
  });
  if (job.call !== null && status !== "canceled") countOutcome(run, job, job.call);
  if (!told) settleGates(run, job, as, status === "failed" || status === "canceled");
}

/** The program has got on: what was lost of it before this counts no more. */
function countOutcome(run: Run, job: Job, call: Call): void {
  run.outcomes += 1;
  job.call = { ...call, outcome: run.outcomes, settledAt: run.lastAt };
  call.by.restartsInVisit = 0;
}

/** How long its attempt has been under way; never less than nothing, though the clock was set back. */
export function attemptDuration({ attemptStartedAt }: Job, now: number): number {
  return Math.max(0, now - (attemptStartedAt ?? now));
}
