import { jobFailure, runError } from "../failure/error-record.js";
import { judgeEnd } from "../failure/judge.js";
import { keepUserData } from "../model/batch/user-data.js";
import { noteCompletion } from "../model/ending/run-ending.js";
import type { Event } from "../model/events.js";
import { traitsOf } from "../model/failure.js";
import { isProgram } from "../model/flow.js";
import { failureBehind, settleGates } from "../model/gate.js";
import { hasFollowUps } from "../model/graph.js";
import { wayOf } from "../model/handled.js";
import {
  addJob,
  addRequest,
  codeOfStop,
  dropWork,
  forgetAnswers,
  forgetRepairs,
  forgetTrouble,
  leaveVisitEarly,
  rebuildGate,
  rememberBreakers,
  rememberOutput,
  settle,
} from "../model/jobs.js";
import { IS_LAST_ERROR } from "../model/last-error.js";
import { change, type Job, jobById, type Run, reuseKey } from "../model/run.js";
import { noteStepRequest } from "../model/step-request.js";
import { placeOf } from "../model/worker-names.js";
import { leftBehindBy } from "./earlier-files.js";
import { abandonScope, cancelJob, cancelJobs, stopJob } from "./evolve-abandon.js";
import { closeBarrier, createJob, decideJoin, openBarrier, openScopes, takeGoto } from "./evolve-barrier.js";
import { noteInBook } from "./evolve-book.js";
import { evolveFlow } from "./evolve-flow.js";
import { evolveHeal, noteProgress } from "./evolve-heal.js";
import { evolveLadder } from "./evolve-ladder.js";
import { enterVisit, finishList, leaveVisit, startList } from "./evolve-lists.js";
import {
  endRun,
  evolveEnding,
  failRun,
  markFailures,
  passTime,
  pauseRun,
  reopenRun,
  requestCancel,
  unpauseRun,
} from "./evolve-run.js";
import { noteRecovery } from "./evolve-tally.js";
import { completeInTree, enterTree, leaveInTree, noteRound } from "./evolve-tree.js";

/** Fold one event into the run, in place. Total: every event of a log that `decide` wrote can be folded. */
export function evolve(run: Run, event: Event, at: number): void {
  run.lastAt = at;
  noteStepRequest(run, event, at);
  noteInBook(run, event, at);
  noteRecovery(run, event);
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
      run.workspace.left = null;
      return;
    case "run.cancel_requested":
      return requestCancel(run, event);
    case "run.paused":
      return pauseRun(run, event);
    case "run.unpaused":
      return unpauseRun(run, event);
    case "run.held":
      run.status = "held";
      return markFailures(run);
    case "run.reopened":
      return reopenRun(run, event);
    case "run.forked":
      for (const reused of event.reuse) run.reuse.set(reuseKey(reused.scope, reused.step), reused);
      return;
    case "run.ending":
    case "undo.started":
    case "undo.entered":
    case "undo.left":
    case "finally.entered":
      return evolveEnding(run, event);
    case "run.completed":
      return endRun(run, "completed", null, at);
    case "run.failed":
      return failRun(run, event, at);
    case "run.canceled":
      return endRun(
        run,
        "canceled",
        runError(judgeEnd(event.code ?? "RUN_CANCELED", event.reason), null, at),
        at,
      );
    case "time.counted":
    case "time.stopped":
    case "time.warned":
      return passTime(run, event, at);
    case "scopes.opened":
      return openScopes(run, jobById(run, event.job), event.generation, event.items);
    case "scope.abandoned":
      return abandonScope(run, event, at);
    case "join.decided":
      return decideJoin(run, event);
    case "job.created":
      return createJob(run, event);
    case "jobs.ready":
      for (const id of event.jobs) makeReady(run, jobById(run, id));
      return;
    case "jobs.skipped":
      return skipJobs(run, event);
    case "jobs.canceled":
      return cancelJobs(run, event.jobs, judgeEnd(event.code, event.reason), at);
    case "jobs.stopping":
      for (const id of event.jobs) stopJob(run, jobById(run, id), event.because);
      return;
    case "job.released":
      return releaseJob(run, jobById(run, event.job));
    case "job.failed":
      return failJob(run, event, at);
    case "job.reused":
    case "job.held":
    case "hold.resolved":
    case "jobs.retried":
    case "operator.goto":
    case "routes.settled":
    case "edge.taken":
    case "job.stood_in":
    case "job.parked":
    case "jobs.unparked":
    case "job.let_through":
    case "rule.reserved":
    case "recovery.started":
    case "recovery.interrupted":
    case "recovery.finished":
    case "human.asked":
    case "human.answered":
      return evolveLadder(run, event, at);
    case "reset.reserved":
    case "requeue.scheduled":
    case "job.dead_lettered":
    case "workspace.opened":
    case "workspace.moved":
    case "workspace.left":
    case "rebuild.started":
    case "rebuild.finished":
    case "set_aside.started":
    case "set_aside.finished":
    case "workspace.promoted":
    case "workspace.discarded":
      return evolveHeal(run, event, at);
    case "step.declared":
    case "calls.awaited":
    case "wait.begun":
    case "job.given":
    case "attempt.suspended":
      return evolveFlow(run, event, at);
    case "visit.requested":
      return addRequest(jobById(run, event.job), { by: jobById(run, event.by), role: event.role });
    case "visit.entered":
      return enterVisit(run, event);
    case "visit.left":
      return leaveVisit(run, event);
    case "attempt.started":
      return startAttempt(run, event, at);
    case "attempt.succeeded":
      return succeed(run, event, at);
    case "attempt.failed":
      noLongerEnding(run, jobById(run, event.job));
      leaveInTree(run, jobById(run, event.job), traitsOf(event.error.class).lost);
      return change(run, jobById(run, event.job), (job) => {
        job.status = "recovering";
        job.error = event.error;
        job.failedOutput = event.output ?? null;
        job.leftBehind = leftBehindBy(job, event);
        job.used = { memoryBytes: event.peak_memory_bytes ?? null, runtimeMs: event.duration_ms };
        if (!traitsOf(event.error.class).lost) {
          job.ownFailure = event.error;
          job.outcomeDueSince = null;
          forgetRepairs(job);
        }
        rememberBreakers(job, event.breakers);
        if (event.breakers === undefined) noteProgress(job, event);
        forgetAnswers(job);
        job.question = null;
        if (event.because !== undefined && job.program !== null)
          job.program = { ...job.program, because: jobById(run, event.because) };
      });
    case "if.failed":
      return change(run, jobById(run, event.job), (job) => {
        job.status = "recovering";
        job.entered = true;
        job.error = event.error;
        rememberBreakers(job, undefined);
        forgetAnswers(job);
      });
    case "attempt.stopped":
      leaveInTree(run, jobById(run, event.job), event.because === "interrupted");
      if (event.because !== "interrupted") jobById(run, event.job).outcomeDueSince = null;
      if (event.because === "interrupted" || event.because === "reset")
        return uncharge(run, jobById(run, event.job));
      return endStoppedAttempt(run, jobById(run, event.job), at);
    case "ladder.climbed":
      return recordClimb(run, event);
    case "restart.granted":
      return change(run, jobById(run, event.job), (job) => {
        job.restartsInVisit += 1;
        job.charged -= 1;
      });
    case "retry.scheduled":
      return change(run, jobById(run, event.job), (job) => {
        job.status = "waiting";
        job.dueAt = event.due_at;
        job.waitMs = event.delay_ms;
        job.retriesInVisit += 1;
        job.retriesInRun += 1;
      });
    case "remediation.started":
      noteRound(run, jobById(run, event.job), event.jobs);
      return startList(run, jobById(run, event.job), "remediation", event);
    case "follow_up.started":
      return startList(run, jobById(run, event.job), "follow_up", event);
    case "remediation.finished":
      return finishList(run, jobById(run, event.job), event.ok);
    case "follow_up.finished":
      return finishList(run, jobById(run, event.job), false);
    case "goto.taken":
      return takeGoto(run, event);
    case "barrier.opened":
      return openBarrier(run, event);
    case "barrier.closed":
      return closeBarrier(run, event);
    case "loop.exceeded":
      return;
    case "evaluation.requested":
      run.nextEvaluation = event.id + 1;
      return change(run, jobById(run, event.job), (job) => {
        // The other job may begin again before this check is answered.
        if (event.purpose === "stand_in") job.output = wayOf(job)?.end?.output ?? null;
        job.evaluation = {
          id: event.id,
          purpose: event.purpose,
          considered: event.considered,
          code: event.code,
        };
      });
    case "evaluation.finished":
      return change(run, jobById(run, event.job), (job) => {
        const { code } = job.evaluation ?? { code: null };
        job.evaluation = null;
        // After a repair the `if` has been decided after all.
        if (event.purpose === "if" && event.result.ok) job.error = null;
        if (code === null) job.answers = { ...job.answers, [event.purpose]: event.result };
        else job.conditionAnswers = { ...job.conditionAnswers, [code]: event.result };
      });
    default:
      return unknownEvent(event);
  }
}

function unknownEvent(event: never): never {
  throw new TypeError(`unknown event ${JSON.stringify(event)}`);
}

type Payload<T extends Event["type"]> = Extract<Event, { type: T }>;

function makeReady(run: Run, job: Job): void {
  change(run, job, () => {
    job.status = "ready";
    job.entered = true;
    job.dueAt = null;
    job.parked = null;
    if (job.program !== null) job.program = { ...job.program, awaits: null };
  });
}

function skipJobs(run: Run, { jobs, because }: Payload<"jobs.skipped">): void {
  for (const id of jobs) {
    const job = jobById(run, id);
    if (because !== "if" && because !== "not_routed") job.skippedBy = failureBehind(job);
    settle(run, job, "skipped", "lost");
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

function failJob(run: Run, event: Payload<"job.failed">, at: number): void {
  const job = jobById(run, event.job);
  job.failure = jobFailure(job, judgeEnd(event.code, event.message), at);
  job.handled = event.handled;
  job.partOf = event.part_of === null ? null : jobById(run, event.part_of);
  job.output = null;
  job.items = null;
  if (!event.routed) {
    // What a transition had led to does not stand in for it.
    job.route = null;
    run.routed.delete(job);
    return settle(run, job, "failed", event.handled === null ? "lost" : "met");
  }
  change(run, job, () => {
    job.status = "failed";
    job.stopping = null;
    dropWork(job);
  });
  if (job.settledAs === null) run.routed.add(job);
}

function startAttempt(run: Run, event: Payload<"attempt.started">, at: number): void {
  enterTree(run, jobById(run, event.job));
  change(run, jobById(run, event.job), (job) => {
    job.status = "running";
    job.letThrough = false;
    job.attempt = event.attempt;
    job.charged += 1;
    job.attemptStartedAt = at;
    job.attemptVisit = event.visit;
    job.attemptToken = event.token;
    job.attemptWorker = event.worker;
    job.attemptPlace = placeOf(event);
    job.attemptPlaced = event.placed ?? null;
    job.repaired = false;
    if (job.hint !== null) job.hint = { ...job.hint, heard: true };
    job.outcomeDueSince ??= event.attempt;
    if (isProgram(job)) job.program = { seed: job.program?.seed ?? event.token, awaits: null, because: null };
  });
}

function succeed(run: Run, event: Payload<"attempt.succeeded">, at: number): void {
  const job = jobById(run, event.job);
  const { attempt, checkpoint } = event;
  completeInTree(run, job);
  if (checkpoint)
    run.workspace.checkpoints.push({ ...checkpoint, job, attempt, visit: job.visit, at, superseded: false });
  forgetTrouble(job);
  job.round = null;
  job.outcomeDueSince = null;
  job.items = event.items;
  job.below = event.below ?? null;
  keepUserData(run, event.user_data);
  rememberOutput(job, event.output);
  noteCompletion(run, job);
  // What a run failed with can still be read when it is undone.
  if (job.step.atEnd === null) job.scope.lastError = null;
  if (!hasFollowUps(job.step)) return settle(run, job, "completed", "met");
  change(run, job, () => {
    job.status = "completed";
    job.followingUp = true;
    forgetAnswers(job);
  });
}

function uncharge(run: Run, job: Job): void {
  change(run, job, () => {
    job.status = "recovering";
    job.stopping = null;
    job.charged -= 1;
  });
}

function noLongerEnding(run: Run, job: Job): void {
  for (const barrier of run.barriers.values()) barrier.endingAttempts.delete(job);
}

/** A superseded job waits for its barrier (or falls back to what it was before the visit); any other is canceled. */
function endStoppedAttempt(run: Run, job: Job, at: number): void {
  noLongerEnding(run, job);
  if (job.stopping !== "superseded") {
    return cancelJob(run, job, judgeEnd(codeOfStop(job.stopping), "stopped while it was running"), at);
  }
  if (job.barrier === null) return leaveVisitEarly(run, job);
  change(run, job, () => {
    job.stopping = null;
    dropWork(job);
    job.status = "blocked";
    job.visitFor = null;
  });
}

function recordClimb(run: Run, event: Payload<"ladder.climbed">): void {
  const job = jobById(run, event.job);
  job.climbed = event.considered;
  if (event.rung !== "restart" && job.error?.attempt != null) job.ownFailure = job.error;
  if (IS_LAST_ERROR[event.rung] && job.error !== null && job.step.atEnd === null)
    job.scope.lastError = job.error;
}
