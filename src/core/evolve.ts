import type { Event, StopReason } from "./events.js";
import { closeBarrier, openBarrier } from "./evolve-barrier.js";
import { decideJoin, openScopes } from "./evolve-scopes.js";
import { settleGates } from "./gate.js";
import { addJob, beginVisit, codeOfStop, dropWork, leaveVisitEarly, rebuildGate, settle } from "./jobs.js";
import { change, hasFollowUps, type Job, jobById, type Run, type Scope, scopesUnder } from "./run.js";

/** Fold one event into the run, in place. Total: every event of a log that `decide` wrote can be folded. */
export function evolve(run: Run, event: Event, at: number): void {
  switch (event.type) {
    case "run.created":
      for (const step of run.graph.inRoot) addJob(run, step, run.root);
      for (const job of run.jobs) rebuildGate(job);
      return;
    case "run.started":
      run.status = "running";
      run.startedAt = at;
      return;
    case "run.resumed":
      return;
    case "run.cancel_requested":
      run.cancelRequested = { reason: event.reason };
      return;
    case "run.completed":
      return endRun(run, "completed", null, at);
    case "run.failed":
      return endRun(run, "failed", { code: event.code, message: event.message }, at);
    case "run.canceled":
      return endRun(run, "canceled", { code: "RUN_CANCELED", message: event.reason }, at);
    case "scopes.opened":
      return openScopes(run, jobById(run, event.job), event.generation, event.items);
    case "scope.abandoned":
      return abandonScope(run, event);
    case "join.decided":
      return decideJoin(run, event);
    case "job.created":
      return createJob(run, event);
    case "jobs.ready":
      for (const id of event.jobs) makeReady(run, jobById(run, id));
      return;
    case "jobs.skipped":
      for (const id of event.jobs) settle(run, jobById(run, id), "skipped", "lost");
      return;
    case "jobs.canceled":
      for (const id of event.jobs) cancelJob(run, jobById(run, id), event.code, event.reason);
      return;
    case "jobs.stopping":
      for (const id of event.jobs) stopJob(run, jobById(run, id), event.because);
      return;
    case "job.released":
      return releaseJob(run, jobById(run, event.job));
    case "job.failed":
      return failJob(run, event);
    case "visit.requested":
      jobById(run, event.job).requests.push({ by: jobById(run, event.by), role: event.role });
      return;
    case "visit.entered":
      return enterVisit(run, event);
    case "visit.left":
      return leaveVisit(run, event);
    case "attempt.started":
      return startAttempt(run, event, at);
    case "attempt.succeeded":
      return succeed(run, event);
    case "attempt.failed":
      noLongerEnding(run, jobById(run, event.job));
      return change(run, jobById(run, event.job), (job) => {
        job.status = "recovering";
        job.error = event.error;
        job.answers = {};
      });
    case "attempt.stopped":
      return endStoppedAttempt(run, jobById(run, event.job));
    case "ladder.climbed":
      return recordClimb(run, event, at);
    case "restart.granted":
      return change(run, jobById(run, event.job), (job) => {
        job.recoveriesInVisit += 1;
      });
    case "retry.scheduled":
      return change(run, jobById(run, event.job), (job) => {
        job.status = "waiting";
        job.dueAt = event.dueAt;
        job.retriesInVisit += 1;
        job.retriesInRun += 1;
      });
    case "remediation.started":
      return startList(run, jobById(run, event.job), "remediation", event);
    case "follow_up.started":
      return startList(run, jobById(run, event.job), "follow_up", event);
    case "remediation.finished":
      return finishList(run, jobById(run, event.job), event.ok);
    case "follow_up.finished":
      return finishList(run, jobById(run, event.job), false);
    case "goto.taken":
      jobById(run, event.job).scope.loops += 1;
      return;
    case "barrier.opened":
      return openBarrier(run, event);
    case "barrier.closed":
      return closeBarrier(run, event);
    case "loop.exceeded":
      return;
    case "evaluation.requested":
      run.nextEvaluation = event.id + 1;
      return change(run, jobById(run, event.job), (job) => {
        job.evaluation = { id: event.id, purpose: event.purpose, considered: event.considered };
      });
    case "evaluation.finished":
      return change(run, jobById(run, event.job), (job) => {
        job.evaluation = null;
        job.answers[event.purpose] = event.result;
      });
    default:
      return unknownEvent(event);
  }
}

function unknownEvent(event: never): never {
  throw new TypeError(`unknown event ${JSON.stringify(event)}`);
}

type Payload<T extends Event["type"]> = Extract<Event, { type: T }>;

function endRun(
  run: Run,
  status: "completed" | "failed" | "canceled",
  error: Run["error"],
  at: number,
): void {
  run.status = status;
  run.error = error;
  run.finishedAt = at;
  // Whether the failure of a repair step is handled depends on the job it was to repair, which may have gone on since.
  for (const job of run.failed) run.dirty.add(job);
}

function createJob(run: Run, event: Payload<"job.created">): void {
  const job = addJob(run, run.graph.byId.get(event.step)!, run.scopes.get(event.scope)!);
  rebuildGate(job);
}

function makeReady(run: Run, job: Job): void {
  change(run, job, () => {
    job.status = "ready";
    job.entered = true;
    job.dueAt = null;
  });
}

function cancelJob(run: Run, job: Job, code: string, message: string): void {
  job.failure = { code, message };
  settle(run, job, "canceled", "lost");
}

function stopJob(run: Run, job: Job, because: StopReason): void {
  change(run, job, () => {
    job.stopping = because;
  });
}

/** Give up everything unsettled in a scope. Run lists in it are over; what runs is being ended. */
function abandonScope(run: Run, event: Payload<"scope.abandoned">): void {
  const scope = run.scopes.get(event.scope)!;
  dropBarriersInto(run, scope);
  for (const id of event.stopping) stopJob(run, jobById(run, id), event.because);
  for (const id of event.canceled) cancelJob(run, jobById(run, id), event.code, event.reason);
  for (const inner of scopesUnder(scope)) {
    for (const job of inner.jobs.values()) {
      if (job.followingUp) change(run, job, dropWork);
      job.requests.length = 0;
      if (job.stopping === null) job.visitFor = null;
    }
  }
  if (event.because !== "loop_budget") return;
  if (scope.parent === null) run.fatal = { code: event.code, message: event.reason };
  else forceBranchesLost(run, event.scope);
}

/** A goto to a job that is given up takes with it only what lies outside the scope, such as the scope's reducer. */
function dropBarriersInto(run: Run, scope: Scope): void {
  const inside = new Set(scopesUnder(scope));
  for (const barrier of [...run.barriers.values()]) {
    if (![...barrier.targets].some((target) => inside.has(target.scope))) continue;
    for (const job of barrier.members) {
      if (!inside.has(job.scope)) continue;
      job.barrier = null;
      barrier.members.delete(job);
      barrier.targets.delete(job);
    }
    if (barrier.members.size === 0) run.barriers.delete(barrier.id);
  }
}

function forceBranchesLost(run: Run, scopeId: string): void {
  const scope = run.scopes.get(scopeId)!;
  scope.abandoned = true;
  for (const [reducer, gate] of scope.branchGates) {
    const waiting = scope.parent!.jobs.get(reducer)!;
    const join = waiting.join;
    if (join === null || gate.forcedLost) continue;
    const wasMet = gate.unmet === 0 && gate.lostGroups === 0;
    const wasLost = gate.lostGroups > 0;
    const wasTainted = gate.taintedGroups > 0;
    gate.forcedLost = true;
    if (wasMet) join.met -= 1;
    if (!wasLost) join.lost += 1;
    if (!wasTainted) join.failed += 1;
  }
}

function releaseJob(run: Run, job: Job): void {
  const told = job.settledAs !== null;
  change(run, job, () => {
    job.followingUp = false;
    job.answers = {};
    job.settledAs ??= "met";
  });
  if (!told) settleGates(run, job, "met", false);
}

function failJob(run: Run, event: Payload<"job.failed">): void {
  const job = jobById(run, event.job);
  job.failure = { code: event.code, message: event.message };
  job.handled = event.handled;
  job.partOf = event.partOf === null ? null : jobById(run, event.partOf);
  job.output = null;
  job.items = null;
  settle(run, job, "failed", event.handled === null ? "lost" : "met");
}

function enterVisit(run: Run, event: Payload<"visit.entered">): void {
  const job = jobById(run, event.job);
  change(run, job, () => {
    job.beforeVisit = {
      status: job.status,
      error: job.error,
      failure: job.failure,
      handled: job.handled,
      partOf: job.partOf,
      output: job.output,
    };
    beginVisit(job);
    job.visit = event.visit;
    job.status = "blocked";
    job.visitFor = job.requests.shift() ?? null;
  });
}

/** A request may be refused before its visit was entered. */
function dropRequest(job: Job, by: number): void {
  const asked = job.requests.findIndex((request) => request.by.id === by);
  if (asked >= 0) job.requests.splice(asked, 1);
}

function leaveVisit(run: Run, event: Payload<"visit.left">): void {
  const job = jobById(run, event.job);
  const list = jobById(run, event.by).list;
  if (job.visitFor?.by.id === event.by) job.visitFor = null;
  else dropRequest(job, event.by);
  if (event.ok && list !== null && list.jobs[list.next] === job) list.next += 1;
}

function startAttempt(run: Run, event: Payload<"attempt.started">, at: number): void {
  change(run, jobById(run, event.job), (job) => {
    job.status = "running";
    job.attempt = event.attempt;
    job.attemptStartedAt = at;
    job.attemptVisit = event.visit;
    job.attemptToken = event.token;
    job.attemptWorker = event.worker;
  });
}

function succeed(run: Run, event: Payload<"attempt.succeeded">): void {
  const job = jobById(run, event.job);
  job.error = null;
  job.output = event.output;
  job.items = event.items;
  job.history.push(event.output);
  job.scope.lastError = null;
  if (!hasFollowUps(job.step)) return settle(run, job, "completed", "met");
  change(run, job, () => {
    job.status = "completed";
    job.followingUp = true;
    job.answers = {};
  });
}

function noLongerEnding(run: Run, job: Job): void {
  for (const barrier of run.barriers.values()) barrier.endingAttempts.delete(job);
}

/** A superseded job waits for its barrier (or falls back to what it was before the visit); any other is canceled. */
function endStoppedAttempt(run: Run, job: Job): void {
  noLongerEnding(run, job);
  if (job.stopping !== "superseded") {
    return cancelJob(run, job, codeOfStop(job.stopping), "stopped while it was running");
  }
  if (job.barrier === null) return leaveVisitEarly(run, job);
  change(run, job, () => {
    job.stopping = null;
    dropWork(job);
    job.status = "blocked";
    job.visitFor = null;
  });
}

/** `_last_error` is for failures that neither a restart nor a retry has answered. */
function recordClimb(run: Run, event: Payload<"ladder.climbed">, at: number): void {
  const job = jobById(run, event.job);
  if (["stop", "restart", "rule", "retry", "reset"].includes(event.rung) || job.error === null) return;
  job.scope.lastError = {
    ...job.error,
    step_id: job.step.definition.id,
    job_id: job.id,
    attempt: event.attempt,
    timestamp: at,
  };
}

function startList(
  run: Run,
  job: Job,
  role: "remediation" | "follow_up",
  event: Payload<"remediation.started" | "follow_up.started">,
): void {
  change(run, job, () => {
    if (role === "remediation") job.remediatedInVisit = true;
    job.list = { role, jobs: event.jobs.map((id) => jobById(run, id)), steps: event.steps, next: 0 };
  });
}

/** A remediation that worked leads to one more attempt, which is a routing transition of the scope. */
function finishList(run: Run, job: Job, reattempts: boolean): void {
  change(run, job, () => {
    job.list = null;
  });
  if (reattempts) job.scope.loops += 1;
}
