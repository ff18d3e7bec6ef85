import type { Barrier } from "../model/barrier.js";
import type { FilesPolicy } from "../model/files-policy.js";
import { gateState, reducersWaiting, waitingFor } from "../model/gate.js";
import { type Job, type Run, routedAttempt, type Scope } from "../model/run.js";
import { awaitsRestore, checkpointsToCut } from "../model/workspace-state.js";
import { endQuestions } from "./abandon.js";
import { readyAfterIf } from "./ask.js";
import { behindCall } from "./calls.js";
import type { Decision } from "./decision.js";
import { decideJoin } from "./fan-out.js";
import { failJob } from "./ladder/fail.js";
import { enterNextVisit, refuseCircularRequests } from "./run-lists.js";
import { giveUpLost, startAll } from "./start.js";
import type { GotoChoice } from "./targets.js";

export type GotoTrigger = "failure" | "success";

/** How many gotos a job may take after this outcome, over all its visits; null: as many as max_loops allows. */
export function gotoBound({ step }: Job, trigger: GotoTrigger): number | null {
  const { onFail, onSuccess } = step.definition;
  return (trigger === "failure" ? onFail : onSuccess).gotoMax ?? null;
}

/** Why the job goes back no more, or null while it may. */
export function usedUpBound(job: Job, trigger: GotoTrigger): string | null {
  const max = gotoBound(job, trigger);
  const used = job.gotos[trigger];
  return max === null || used < max ? null : `no gotos left (${used} used)`;
}

/** An agent goes on with its own work; any other step starts from what it found the first time. */
function filesOfGoto(job: Job, target: Job, trigger: GotoTrigger, by: GotoChoice["by"]): FilesPolicy {
  const { onFail, onSuccess } = job.step.definition;
  const given = by === "goto" ? (trigger === "failure" ? onFail : onSuccess).gotoFiles : undefined;
  return given ?? (target.step.definition.action.type === "agent" ? "keep" : "restore");
}

/** Jump back: a barrier over the target and all that depends on it, closed when nothing in it runs any more. */
export function takeGoto(
  decision: Decision,
  job: Job,
  { target, by, note }: GotoChoice,
  trigger: GotoTrigger,
): void {
  decision.emit({
    type: "goto.taken",
    job: job.id,
    attempt: routedAttempt(job),
    target: target.id,
    to: target.step.definition.id,
    trigger,
    goto: job.gotos[trigger] + 1,
    max: gotoBound(job, trigger),
    loop: job.scope.loops + 1,
    reason: note + by,
  });
  const from = trigger === "failure" ? job.id : null;
  const files = filesOfGoto(job, target, trigger, by);
  openBarrierOver(decision, target, { forced: false, from, edge: null, files });
}

export interface BarrierCause {
  /** The target starts even if what it depends on is not there. */
  readonly forced: boolean;
  /** The job whose failure an edge or a goto brings to the target. */
  readonly from: number | null;
  readonly edge: number | null;
  readonly files: FilesPolicy;
}

/** Stops everything from the target on, and restarts there when none of it runs any more. */
export function openBarrierOver(
  decision: Decision,
  target: Job,
  { files: wanted, ...cause }: BarrierCause,
): void {
  const { run } = decision;
  const members = descendants(run, target);
  const touched = new Set<Barrier>();
  for (const member of members) if (member.barrier !== null) touched.add(member.barrier);
  const [widened, ...merged] = touched;
  const id = widened?.id ?? run.nextBarrier;
  const repairing = members.flatMap((member) => [...stepsAtWorkFor(member)]);
  const added = members.filter((member) => member.barrier === null || member.barrier !== widened);
  const files = [...touched].some((barrier) => barrier.files === "restore") ? "restore" : wanted;
  decision.emit({
    type: "barrier.opened",
    barrier: id,
    target: target.id,
    ...cause,
    ...(run.definition.workspace === null ? {} : { files }),
    members: added.map((member) => member.id),
    merged: merged.map((barrier) => barrier.id),
  });
  const barrier = run.barriers.get(id)!;
  const ending = [...barrier.endingAttempts].filter(
    ({ stopping }) => stopping === null || stopping === "reset",
  );
  if (ending.length > 0) {
    decision.emit({
      type: "jobs.stopping",
      jobs: ending.map((member) => member.id),
      because: "superseded",
      reason: `goto ${target.step.definition.id}`,
    });
  }
  endQuestions(decision, ending, "superseded");
  closeBarrierIfDone(decision, barrier);
  // A repair step that a member has released may serve the next job that requested it.
  for (const target of repairing) decision.add(() => enterNextVisit(decision, target));
}

/** The step that a job's run list is at, and the one that this step's own list is at. */
function* stepsAtWorkFor(job: Job): Generator<Job> {
  const target = job.list?.jobs[job.list.next];
  if (target === undefined) return;
  yield target;
  if (target.visitFor?.by === job) yield* stepsAtWorkFor(target);
}

/** The target and every job that depends on it, directly or not, in whatever scope. */
export function descendants(run: Run, target: Job): Job[] {
  const found = new Set<Job>([target]);
  for (const job of found) {
    for (const waiting of waitingFor(job)) found.add(waiting.job);
    for (const dependent of dependentsInScope(job)) found.add(dependent);
    for (const other of behindCall(run, job)) found.add(other);
    if (!job.step.definition.forEach) continue;
    for (const reducer of reducersWaiting(run, job)) found.add(reducer);
    for (const routed of routedIntoItemsOf(job)) found.add(routed);
  }
  return [...found];
}

/** Steps that run lists and transitions have brought into the items; they go with their scope. */
function* routedIntoItemsOf(opener: Job): Generator<Job> {
  for (const scope of opener.scope.children.get(opener.step) ?? []) {
    if (!scope.open) continue;
    for (const job of scope.jobs.values()) if (job.step.path.length !== scope.depth) yield job;
  }
}

/** Jobs of the same scope that depend on this one, also through items, of which there may be none just now. */
function* dependentsInScope(job: Job): Generator<Job> {
  const { depth, jobs } = job.scope;
  const through = new Set([job.step]);
  for (const step of through) {
    for (const { step: next } of step.dependents) {
      if (next.path.length > depth) through.add(next);
      else if (jobs.has(next)) yield jobs.get(next)!;
    }
  }
}

/** Closes barriers. Closing one may close others, so each is looked up again. */
export function closeBarriersThatAreDone(decision: Decision): void {
  for (const id of decision.run.barriers.keys()) {
    decision.add(() => {
      const barrier = decision.run.barriers.get(id);
      if (barrier !== undefined) closeBarrierIfDone(decision, barrier);
    });
  }
}

function closeBarrierIfDone(decision: Decision, barrier: Barrier): void {
  if (barrier.endingAttempts.size > 0 || awaitsRestore(barrier)) return;
  const members = [...barrier.members];
  const [retired, invalidated] = partition(members, (job) => isInsideMember(job.scope, barrier));
  const cut = barrier.restored?.ok === false ? [] : checkpointsToCut(decision.run, barrier);
  decision.emit({
    type: "barrier.closed",
    barrier: barrier.id,
    invalidated: invalidated.map((job) => job.id),
    retired: retired.map((job) => job.id),
    ...(cut.length === 0 ? {} : { cut: cut.map(({ ordinal }) => ordinal) }),
  });
  // All branches of a reducer may still be settled. Its join is then decided again, at once.
  for (const job of invalidated) decision.add(() => decideJoin(decision, job));
  const targets = new Map([...barrier.targets].filter(([job]) => !retired.includes(job)));
  const { restored } = barrier;
  decision.add(() => {
    if (restored?.ok === false) failTargets(decision, targets, restored.message);
    else startTargets(decision, targets);
  });
  decision.add(() => startAll(decision, invalidated, "goto"));
  decision.add(() => giveUpLost(decision, invalidated));
  for (const job of invalidated) decision.add(() => refuseCircularRequests(decision, job));
  for (const job of members) decision.add(() => enterNextVisit(decision, job));
}

/** The job's item scope was made by a member: with the member's output the scope is gone. */
function isInsideMember(scope: Scope, barrier: Barrier): boolean {
  for (let at: Scope | null = scope; at !== null; at = at.parent) {
    if (at.opener !== null && barrier.members.has(at.opener)) return true;
  }
  return false;
}

/** A target starts even if it is a routed step: somebody has just routed to it. */
function startTargets(decision: Decision, targets: Barrier["targets"]): void {
  for (const [job, { forced }] of targets) {
    // What a program has called begins when it is called again.
    if (job.call !== null) continue;
    if (job.status !== "blocked" || job.evaluation !== null || (!forced && gateState(job.gate) !== "met"))
      continue;
    readyAfterIf(decision, job, "goto");
  }
}

/** Fails the targets, because nothing may continue in a workspace that still contains what was to be undone. */
function failTargets(decision: Decision, targets: Barrier["targets"], message: string): void {
  const reason = `the workspace could not be restored: ${message}`;
  for (const job of targets.keys()) {
    decision.add(() => {
      if (job.status === "blocked" && job.evaluation === null) failJob(decision, job, "RESET_FAILED", reason);
    });
  }
}

function partition<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  const yes: T[] = [];
  const no: T[] = [];
  for (const item of items) (test(item) ? yes : no).push(item);
  return [yes, no];
}
