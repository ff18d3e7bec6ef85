import { jobFailure } from "../failure/error-record.js";
import { judgeEnd } from "../failure/judge.js";
import { keepUserData } from "../model/batch/user-data.js";
import { noteCompletion } from "../model/ending/run-ending.js";
import type { Event } from "../model/events.js";
import { settleGates, withDependentsStillWaiting } from "../model/gate.js";
import { hasFollowUps } from "../model/graph.js";
import { NEW_QUEUE_STATE } from "../model/heal-state.js";
import {
  carryRouteOn,
  dropWork,
  forgetAnswers,
  forgetLoops,
  forgetTrouble,
  invalidate,
  leaveVisitEarly,
  rememberOutput,
  rememberSource,
  renewRouting,
  settle,
} from "../model/jobs.js";
import { hintIn, ledBy } from "../model/led-by.js";
import { withRaise } from "../model/resources.js";
import { change, type Job, jobById, type Run } from "../model/run.js";
import { rebuild } from "./evolve-barrier.js";
import { rememberKey } from "./evolve-run.js";
import { findAgain, noteRound } from "./evolve-tree.js";

type Payload<T extends Event["type"]> = Extract<Event, { type: T }>;

/** The events of rules, edges, holds, people and operators. */
export type LadderEvent = Payload<
  | "job.reused"
  | "job.held"
  | "hold.resolved"
  | "jobs.retried"
  | "operator.goto"
  | "routes.settled"
  | "edge.taken"
  | "job.stood_in"
  | "job.parked"
  | "jobs.unparked"
  | "job.let_through"
  | "rule.reserved"
  | "recovery.started"
  | "recovery.interrupted"
  | "recovery.finished"
  | "human.asked"
  | "human.answered"
>;

export function evolveLadder(run: Run, event: LadderEvent, at: number): void {
  switch (event.type) {
    case "job.parked":
      return change(run, jobById(run, event.job), (job) => {
        job.status = "waiting";
        job.charged -= 1;
        job.parked = { breakers: event.breakers, since: at };
      });
    case "jobs.unparked":
      for (const id of event.jobs) change(run, jobById(run, id), (job) => endParking(job, event.because));
      return;
    case "job.let_through":
      rememberKey(run, event.key);
      return change(run, jobById(run, event.job), (job) => {
        if (job.parked !== null) job.status = "recovering";
        job.parked = null;
        job.letThrough = true;
        job.hint = hintIn(event);
      });
    case "rule.reserved":
      return change(run, jobById(run, event.job), (job) => {
        job.recovery =
          event.script === null
            ? null
            : { attempt: event.attempt, script: event.script, tries: 0, token: "" };
        if (event.raised !== undefined) job.raised = withRaise(job.raised, event.raised);
      });
    case "recovery.started":
      return change(run, jobById(run, event.job), (job) => {
        if (job.recovery !== null) job.recovery = { ...job.recovery, tries: event.try, token: event.token };
      });
    case "recovery.interrupted":
      return change(run, jobById(run, event.job), (job) => {
        if (job.recovery !== null)
          job.recovery = { ...job.recovery, tries: job.recovery.tries - 1, token: "" };
      });
    case "recovery.finished":
      return finishRecovery(run, jobById(run, event.job), event);
    case "job.held":
      return change(run, jobById(run, event.job), (job) => {
        dropWork(job);
        job.status = "held";
        job.failure = jobFailure(job, judgeEnd(event.code, event.message), at);
        job.dueAt = event.due_at ?? null;
        job.waitMs = event.due_at === undefined ? 0 : event.due_at - at;
        if (event.uncaught === true) job.settledAs = null;
        if (job.call !== null) job.call = { ...job.call, outcome: 0 };
      });
    case "hold.resolved":
      return resolveHold(run, event);
    case "jobs.retried":
      return retryJobs(run, event);
    case "operator.goto":
      jobById(run, event.target).hint = hintIn(event);
      if (run.status === "held") run.status = "running";
      for (const id of event.jobs ?? []) forgetLoops(jobById(run, id));
      return rememberKey(run, event.key);
    case "routes.settled":
      for (const id of event.handled) settleRoute(run, jobById(run, id), false);
      for (const id of event.unhandled) settleRoute(run, jobById(run, id), true);
      return;
    case "edge.taken":
      return takeEdge(run, event);
    case "job.stood_in":
      return standIn(run, event);
    case "human.asked":
      return change(run, jobById(run, event.job), (job) => {
        job.status = "waiting";
        job.dueAt = event.due_at;
        job.waitMs = event.due_at === null ? 0 : event.due_at - at;
        const { prompt, choices, choose } = event;
        job.question = { prompt, choices, ...(choose === undefined ? {} : { choose }) };
      });
    case "human.answered":
      rememberKey(run, event.key);
      return change(run, jobById(run, event.job), (job) => {
        job.status = "running";
        job.dueAt = null;
        job.question = null;
      });
    case "job.reused":
      return reuseJob(run, event, at);
  }
}

/** The failure that climbs on counts as any other from now on. */
function endParking(job: Job, because: Payload<"jobs.unparked">["because"]): void {
  job.parked = null;
  job.status = "recovering";
  if (because === "spent") job.charged += 1;
}

function finishRecovery(run: Run, job: Job, event: Payload<"recovery.finished">): void {
  for (const barrier of run.barriers.values()) barrier.endingAttempts.delete(job);
  // The run list that had entered this visit has let go of it.
  if (job.stopping === "superseded" && job.barrier === null) return leaveVisitEarly(run, job);
  change(run, job, () => {
    const { script } = job.recovery ?? {};
    if (event.ok && script !== undefined) job.repairs = [...job.repairs, { kind: "script", script }];
    job.recovery = null;
    job.repaired = true;
    if (job.stopping === "superseded") job.stopping = null;
  });
}

/** `skip` lets the dependents run; `complete` gives them an output; the other two go on by events of their own. */
function resolveHold(run: Run, event: Payload<"hold.resolved">): void {
  const job = jobById(run, event.job);
  rememberKey(run, event.key);
  job.dueAt = null;
  if (event.expired === true && event.action === "retry") job.retriedByExpiry = true;
  // Whatever was decided: nobody need find it among the dead letters any more.
  if (job.queue.dead) job.queue = { ...job.queue, dead: false };
  if (run.status === "held") run.status = "running";
  if (event.action === "fail" && job.call !== null) job.call = { ...job.call, isGiven: true };
  const { action: how, by = null, expired = false } = event;
  if (how === "skip" || how === "complete") job.decided = { how, by, expired };
  if (event.action === "skip") {
    job.failure = null;
    return settle(run, job, "skipped", "met");
  }
  if (event.action === "complete") {
    job.failure = null;
    return completeWith(run, job, event);
  }
  change(run, job, () => {
    job.status = "recovering";
  });
}

function completeWith(run: Run, job: Job, given: Pick<Payload<"hold.resolved">, "output" | "items">): void {
  job.items = given.items;
  rememberOutput(job, given.output ?? { kind: "value", value: null });
  noteCompletion(run, job);
  forgetTrouble(job);
  if (!hasFollowUps(job.step)) return settle(run, job, "completed", "met");
  change(run, job, () => {
    job.status = "completed";
    job.followingUp = true;
    forgetAnswers(job);
  });
}

/** New visits with fresh budgets; what was given up because of these jobs waits for them again. */
function retryJobs(run: Run, event: Payload<"jobs.retried">): void {
  rememberKey(run, event.key);
  if (run.status === "held") run.status = "running";
  const all = [...event.jobs, ...event.reblocked].map((id) => jobById(run, id));
  for (const job of all) {
    const { settledAs, visit, visitFor, outcomeDueSince } = job;
    const { ledBy: led, ownFailure, earlierFiles, leftBehind } = job;
    invalidate(run, job);
    job.outcomeDueSince = outcomeDueSince;
    job.ledBy = led;
    job.ownFailure = ownFailure;
    job.earlierFiles = earlierFiles;
    job.leftBehind = leftBehind;
    // A hold that a run list waits for.
    job.visitFor = visitFor;
    carryRouteOn(job, visit);
    // Its dependents have had what they need since an earlier visit, and are left alone.
    if (settledAs === "met") job.settledAs = settledAs;
    job.charged = 0;
    job.allowed = event.max_attempts === undefined ? null : event.max_attempts - job.attempt;
    job.queue = NEW_QUEUE_STATE;
    renewRouting(job);
    findAgain(run, job);
  }
  for (const id of event.jobs) jobById(run, id).hint = hintIn(event);
  for (const raise of event.raised ?? []) {
    const job = jobById(run, raise.job);
    job.raised = withRaise(job.raised, raise);
  }
  for (const job of all) job.scope.abandoned = false;
  const rerouted = (event.rerouted ?? []).map((id) => jobById(run, id));
  for (const job of rerouted) {
    change(run, job, () => {
      job.settledAs = null;
    });
    run.routed.add(job);
  }
  for (const job of withDependentsStillWaiting([...all, ...rerouted])) rebuild(job);
}

/** The run has nothing else left: dependents of a routed failure learn what became of it. */
function settleRoute(run: Run, job: Job, tainted: boolean): void {
  run.routed.delete(job);
  change(run, job, () => {
    job.settledAs = "lost";
  });
  settleGates(run, job, "lost", tainted);
}

/** The source remembers where its failure went; a target that had not begun remembers where it came from. */
function takeEdge(run: Run, event: Payload<"edge.taken">): void {
  const source = jobById(run, event.job);
  const target = jobById(run, event.target);
  if (event.counted) source.scope.loops += 1;
  const begins = event.status === "selected" && !event.counted;
  if (event.on === "failure") {
    noteRound(run, source, [event.target]);
    const beginsAnew = event.counted || target.barrier !== null;
    const visit = beginsAnew && target.entered ? target.visit + 1 : target.visit;
    rememberSource(target, source);
    source.route = { target, visit, then: event.then ?? "skip" };
    if (begins) target.ledBy = ledBy(run, target, source, { route: "edge", edge: event.edge });
  }
  run.dirty.add(source);
  if (begins)
    change(run, target, () => {
      target.entered = true;
    });
}

/** Its status and its failure stay; its dependents get the other job's output. */
function standIn(run: Run, event: Payload<"job.stood_in">): void {
  const job = jobById(run, event.job);
  const by = jobById(run, event.by);
  job.stoodInBy = by;
  job.output ??= by.output;
  job.items = event.items;
  run.routed.delete(job);
  settle(run, job, "failed", "met");
}

function reuseJob(run: Run, event: Payload<"job.reused">, _at: number): void {
  const job = jobById(run, event.job);
  job.entered = true;
  job.items = event.items;
  job.decided = event.decided ?? null;
  job.below = event.below ?? null;
  keepUserData(run, event.user_data);
  const { stood_in: stoodIn } = event;
  if (stoodIn === undefined) rememberOutput(job, event.output);
  else {
    const by = jobById(run, stoodIn.by);
    job.output = event.output;
    job.failure = { ...stoodIn.failure, job_id: job.id };
    job.route = { target: by, visit: by.visit, then: "continue" };
    rememberSource(by, job);
    job.stoodInBy = by;
  }
  settle(run, job, stoodIn === undefined ? "completed" : "failed", "met");
}
