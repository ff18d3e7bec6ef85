import type { BookState } from "../book/book.js";
import type { RunConcurrency } from "../groups/concurrency.js";
import type { RecoveryCount } from "../tally/run-tally.js";
import type { Json } from "../text/json.js";
import type { Labels } from "../text/labels.js";
import type { Barrier } from "./barrier.js";
import type { ReadyJobs } from "./batch/ready-jobs.js";
import type { Definition } from "./definition.js";
import type { RunEnding } from "./ending/run-ending.js";
import type {
  EvaluationPurpose,
  EvaluationResult,
  Output,
  ResetTrigger,
  ReusedJob,
  RungConsidered,
  RunOptions,
  ScopeItem,
  StopReason,
  UncleanChild,
  VisitRole,
} from "./events.js";
import type { ErrorRecord, Failure } from "./failure.js";
import type { EarlierFiles, LeftBehind } from "./files-policy.js";
import type { Call, Program } from "./flow.js";
import type { Gate, JoinCount } from "./gate.js";
import type { Graph, GraphStep } from "./graph.js";
import type { HealState, QueueState, Round } from "./heal-state.js";
import type { WhatLedHere } from "./led-by.js";
import type { RaisedResources } from "./resources.js";
import type { Route, VisitOutcome } from "./route.js";
import type { Decision, JobStatus, RunStatus } from "./rows.js";
import type { StepRequest } from "./step-request.js";
import type { TimeUsed } from "./time-used.js";
import type { AttemptPlace, Placed } from "./worker-names.js";
import type { WorkspaceState } from "./workspace-state.js";

/** Room for ten million jobs in a run; with it a job's id tells its run. */
export const JOB_IDS_PER_RUN = 10_000_000;

/** A run in memory: the fold of its log. Only `evolve` changes it. */
export interface Run {
  readonly id: number;
  readonly workflowId: number;
  readonly workflow: string;
  readonly definitionHash: string;
  readonly definition: Definition;
  readonly graph: Graph;
  readonly options: RunOptions;
  readonly inputs: { readonly [name: string]: Json };
  readonly context: { readonly [name: string]: Json };
  readonly folder: string;
  readonly file: string | null;
  readonly parent: { readonly run_id: number; readonly job_id: number } | null;
  readonly managed: boolean;
  readonly cause: string | null;
  readonly labels: Labels;
  /** Null if it needs no place. */
  readonly concurrency: RunConcurrency | null;
  readonly priority: number;
  /** By name: the ids of this run's failure handlers in the store. */
  readonly failureHandlerIds: ReadonlyMap<string, number>;
  readonly maxLoops: number;
  readonly createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
  status: RunStatus;
  error: ErrorRecord | null;
  /** `now`: without undoing anything and without `finally`. */
  cancelRequested: { readonly reason: string; readonly code?: string; readonly now?: true } | null;
  /** Null before the run begins to end, or if it ends without further steps. */
  ending: RunEnding | null;
  /** Jobs that have completed in this run and that a step undoes, the newest completion last, with the number of completions. */
  readonly undoable: Map<Job, number>;
  timeUsed: TimeUsed;
  paused: { readonly takeover: boolean } | null;
  stepRequest: StepRequest | null;
  /** The run fails whatever else happens: its root scope passed max_loops. */
  fatal: { readonly code: string; readonly message: string } | null;
  readonly root: Scope;
  readonly scopes: Map<string, Scope>;
  /** All jobs by n. A job's id is `id * 10^7 + n`, with n from 1. */
  readonly jobs: Job[];
  /** In the order in which they should start. */
  readonly ready: ReadyJobs;
  readonly running: Set<Job>;
  readonly failed: Set<Job>;
  /** Jobs that wait for somebody to decide. */
  readonly held: Set<Job>;
  /** Human steps that wait for an answer. */
  readonly asking: Set<Job>;
  /** Jobs that wait for breakers. */
  readonly parked: Set<Job>;
  /** Failed jobs whose route may still lead somewhere, so their dependents have not been told. */
  readonly routed: Set<Job>;
  /** By name: the values that jobs have written. */
  readonly userData: Map<string, Json>;
  /** For a fork, by scope and step: what it need not repeat. */
  readonly reuse: Map<string, ReusedJob>;
  /** Keys of the operator commands that have been taken. */
  readonly operatorKeys: Set<string>;
  /** How many jobs have something under way; 0 with no barrier open means quiescent. */
  busy: number;
  readonly workspace: WorkspaceState;
  readonly barriers: Map<number, Barrier>;
  nextBarrier: number;
  nextEvaluation: number;
  readonly book: BookState;
  readonly recoveries: RecoveryCount;
  /** How many outcomes of called steps there were, and when the last event was. */
  outcomes: number;
  lastAt: number;
  /** Jobs changed since the projections were last taken. Not part of the fold. */
  readonly dirty: Set<Job>;
}

export interface Scope {
  readonly id: string;
  readonly parent: Scope | null;
  /** How many fan-outs enclose it. */
  readonly depth: number;
  /** The forEach job whose output made this scope, and which item it is. */
  readonly opener: Job | null;
  item: { key: string; name: string; index: number; total: number } | null;
  /** False if a later visit of the opener has fewer items. */
  open: boolean;
  generation: number;
  /** The scope passed max_loops: as a branch it is lost, whatever has completed in it. */
  abandoned: boolean;
  /** Routing transitions other than retries taken in this scope. */
  loops: number;
  lastError: Failure | null;
  readonly jobs: Map<GraphStep, Job>;
  children: ReadonlyMap<GraphStep, readonly Scope[]>;
  /** By reducer: whether this branch has provided what it needs. */
  branchGates: ReadonlyMap<GraphStep, Gate>;
}

/**
 * A run may have very many jobs, and most of them end well at once: what a job has only in trouble is a shared empty
 * value until then. So nobody changes the value of a field in place: it is replaced, or `jobs.ts` has a function for it.
 */
export interface Job extends WhatLedHere {
  readonly id: number;
  readonly step: GraphStep;
  readonly scope: Scope;
  status: JobStatus;
  attempt: number;
  attemptStartedAt: number | null;
  attemptVisit: number;
  attemptToken: string | null;
  attemptWorker: string | null;
  attemptPlace: AttemptPlace;
  attemptPlaced: Placed | null;
  /** A recovery script has run since its last attempt: what it mended is where that was. */
  repaired: boolean;
  /** Since this attempt no outcome is on record: lost and interrupted ones leave theirs to the next. */
  outcomeDueSince: number | null;
  visit: number;
  /** What has become of changes that earlier attempts had made in the workspace, oldest first. */
  earlierFiles: readonly EarlierFiles[];
  /** What attempts of this visit that did not complete have left in the tree. */
  leftBehind: LeftBehind | null;
  /** The job has become ready in this visit, or its `if` has failed in it. */
  entered: boolean;
  gate: Gate;
  /** What the job's dependents have been told: nothing yet, that it completed, or that it never will. */
  settledAs: "met" | "lost" | null;
  /** For a reducer, once its fan-out is open. */
  join: JoinCount | null;
  /** Since the visit, or the present round of the queue, began. */
  retriesInVisit: number;
  retriesInRun: number;
  /** Gotos taken, by their cause. Like `retriesInRun`, they restart with an operator's retry or a new generation. */
  gotos: { readonly failure: number; readonly success: number };
  heal: HealState;
  queue: QueueState;
  /** The loop that its failures have gone round, over its visits; null: none, or it has completed since. */
  round: Round | null;
  /** The job is to go on in a fresh workspace, which is not built yet. */
  reset: { readonly trigger: ResetTrigger } | null;
  /** The rungs that its last climb has considered. */
  climbed: readonly RungConsidered[];
  restartsInVisit: number;
  /** The breakers that were open for the class of its last failure. */
  openBreakers: readonly string[];
  /** It waits for these breakers since then. */
  parked: { readonly breakers: readonly string[]; readonly since: number } | null;
  /** An operator wants its next attempt whatever its breakers say. */
  letThrough: boolean;
  remediationsInVisit: number;
  /** Attempts that count against a rule's limit: not those that were lost, nor any before an operator's retry. */
  charged: number;
  /** A hold of it that nobody decided in time has led to another attempt. */
  retriedByExpiry: boolean;
  /** How many of those the last operator's retry allows; null: it named no bound. */
  allowed: number | null;
  /** What rules and operators have given it beyond its step's requirements; it keeps that. */
  raised: RaisedResources | null;
  /** What its last failed attempt took of each resource, as far as it is known; null: nothing failed. */
  used: RaisedResources | null;
  /** The recovery script that is due, how often it was begun, and while it is at work what it carries. */
  recovery: { readonly attempt: number; readonly script: string; tries: number; token: string } | null;
  question: {
    readonly prompt: string;
    readonly choices: readonly string[];
    readonly choose?: string;
  } | null;
  /** Where a transition took this job's failure in its present visit. */
  route: Route | null;
  /** Jobs from which a transition has brought a failure here, in whatever visit. */
  routedHere: ReadonlySet<Job>;
  /** How the visits of an edge's target ended. */
  outcomes: ReadonlyMap<number, VisitOutcome>;
  error: Failure | null;
  /** What the job has ended with, or is held for; `error` is of its last failed attempt in this visit. */
  failure: Failure | null;
  handled: "continue_on_failure" | "join" | null;
  /** The job with whose output this one's dependents were told that it completed. */
  stoodInBy: Job | null;
  /** The failure because of which it was skipped, though that is handled. */
  skippedBy: Job | null;
  /** What put an end to its hold, and so to the job. */
  decided: Decision | null;
  /** Its child run completed, and this was not mended in it. */
  below: UncleanChild | null;
  /** The job whose remediation this failure belongs to. */
  partOf: Job | null;
  output: Output | null;
  /** One entry a completion. */
  history: readonly Output[];
  dueAt: number | null;
  /** How long it was to wait when that began: never longer, however the clock was set since. */
  waitMs: number;
  stopping: StopReason | null;
  barrier: Barrier | null;
  evaluation: {
    readonly id: number;
    readonly purpose: EvaluationPurpose;
    readonly considered: readonly RungConsidered[];
    readonly code: string | null;
  } | null;
  /** Answers to the expressions of the climb or follow-up under way. */
  answers: { readonly [purpose in EvaluationPurpose]?: EvaluationResult };
  /** Answers to expressions in the conditions of transitions, by their code. */
  conditionAnswers: { readonly [code: string]: EvaluationResult };
  /** The run list under way for this job. */
  list: RunList | null;
  /** Completed, and its on_success routing is not over yet. */
  followingUp: boolean;
  /** Items of a forEach job's last output. */
  items: readonly ScopeItem[] | null;
  /** Visits that run lists want of this job, first come first served, and the one under way. */
  requests: readonly VisitRequest[];
  visitFor: VisitRequest | null;
  /** What a visit that is given up falls back to. */
  beforeVisit: BeforeVisit;
  /** How the program of a flow has called it (null: it stands in the definition), and of that program, once it has begun. */
  call: Call | null;
  program: Program | null;
}

export type BeforeVisit = Pick<
  Job,
  | "status"
  | "error"
  | "failure"
  | "handled"
  | "stoodInBy"
  | "decided"
  | "below"
  | "partOf"
  | "output"
  | "failedOutput"
  | "route"
  | "ledBy"
>;

export interface RunList {
  readonly role: VisitRole;
  readonly jobs: readonly Job[];
  readonly steps: readonly string[];
  next: number;
}

export interface VisitRequest {
  readonly by: Job;
  readonly role: VisitRole;
}

export function reuseKey(scope: string, step: string): string {
  return `${scope} ${step}`;
}

/** The id of the job that is made next. */
export function nextJobId(run: Run): number {
  return run.id * JOB_IDS_PER_RUN + run.jobs.length + 1;
}

export function jobById(run: Run, id: number): Job {
  const job = run.jobs[id - run.id * JOB_IDS_PER_RUN - 1];
  if (job === undefined) throw new RangeError(`run ${run.id} has no job ${id}`);
  return job;
}

/** Null where the id is of no job in this run. */
export function findJob(run: Run, id: number): Job | null {
  return run.jobs[id - run.id * JOB_IDS_PER_RUN - 1] ?? null;
}

export function isOver(run: Run): boolean {
  return run.status === "completed" || run.status === "failed" || run.status === "canceled";
}

export function isSettled(status: JobStatus): boolean {
  return status === "completed" || status === "failed" || status === "skipped" || status === "canceled";
}

/** Something of this job is under way, so that the run is not quiescent. */
function isBusy(job: Job): boolean {
  switch (job.status) {
    case "ready":
    case "running":
    case "waiting":
    case "recovering":
      return true;
    default:
      return job.followingUp || job.evaluation !== null || job.recovery !== null;
  }
}

/** The attempt whose failure or success routing answers; 0 where the step's `if` failed before there was one. */
export function routedAttempt({ attempt, error }: Job): number {
  return error !== null && error.attempt === null ? 0 : attempt;
}

/** Its recovery script is at work, not only reserved. */
export function isInRecovery(job: Job): boolean {
  return job.recovery !== null && job.recovery.token !== "";
}

/** The one way in which a job changes: keeps the run's counters and the dirty set right. */
export function change(run: Run, job: Job, edit: (job: Job) => void): void {
  const wasBusy = isBusy(job);
  const statusBefore = job.status;
  edit(job);
  if (job.status !== statusBefore) {
    leaveIndex(run, job, statusBefore);
    enterIndex(run, job);
    // Whether these are handled depends on how it stands.
    for (const source of failuresLedTo(job)) run.dirty.add(source);
  }
  const busy = isBusy(job);
  if (busy !== wasBusy) run.busy += busy ? 1 : -1;
  if (job.step.definition.usesWorkspace) noteInWorkspace(run, job);
  if (job.step.definition.action.type === "human")
    run.asking[job.status === "waiting" && job.question !== null ? "add" : "delete"](job);
  if (job.step.definition.uses !== undefined) run.parked[job.parked === null ? "delete" : "add"](job);
  run.dirty.add(job);
}

/** The jobs whose failures have come to this one, directly or through others; perhaps long ago. */
export function failuresLedTo({ routedHere }: Job): ReadonlySet<Job> {
  if (routedHere.size === 0) return routedHere;
  const found = new Set<Job>(routedHere);
  // A set is walked in order of insertion, what is added meanwhile included.
  for (const source of found) for (const before of source.routedHere) found.add(before);
  return found;
}

function noteInWorkspace({ workspace }: Run, job: Job): void {
  if (job.status === "running") workspace.running = job;
  else if (workspace.running === job) workspace.running = null;
  if (job.reset === null) workspace.resetting.delete(job);
  else workspace.resetting.add(job);
}

function leaveIndex(run: Run, job: Job, status: JobStatus): void {
  if (status === "ready") run.ready.delete(job);
  else if (status === "running") run.running.delete(job);
  else if (status === "failed") {
    run.failed.delete(job);
    run.routed.delete(job);
  } else if (status === "held") run.held.delete(job);
}

function enterIndex(run: Run, job: Job): void {
  if (job.status === "ready") run.ready.add(job);
  else if (job.status === "running") run.running.add(job);
  else if (job.status === "failed") run.failed.add(job);
  else if (job.status === "held") run.held.add(job);
}

/** Every scope at or under this one that is open. */
export function* scopesUnder(scope: Scope): Generator<Scope> {
  yield scope;
  for (const children of scope.children.values()) {
    for (const child of children) if (child.open) yield* scopesUnder(child);
  }
}
