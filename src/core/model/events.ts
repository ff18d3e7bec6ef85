import { RUN_CONCURRENCY } from "../groups/concurrency.js";
import {
  count,
  flag,
  id,
  jobId,
  json,
  just,
  list,
  naming,
  nullable,
  number,
  type Of,
  type OfFields,
  object,
  one,
  optional,
  perhaps,
  pick,
  record,
  text,
  time,
  word,
} from "../text/shape.js";
import { FAILURE } from "./failure.js";
import { FILES_POLICIES } from "./files-policy.js";
import { RAISE, RAISE_FIELDS } from "./resources.js";
import { ROUTE_ENDS } from "./route.js";
import { SHELL_WORDS } from "./shell.js";
import type { Placed } from "./worker-names.js";

/** What an operator asked for that lets jobs run again. */
export const RETRIED_BY = word(["retry_step", "hard_reset_step", "redrive", "reset", "recover", "resolve"]);
export type RetriedBy = Of<typeof RETRIED_BY>;

export const RUNG_NAME = word([
  "stop",
  "restart",
  "park",
  "rule",
  "retry",
  "reset",
  "remediate",
  "goto",
  "edge",
  "requeue",
  "hold",
  "fail",
]);
export type RungName = Of<typeof RUNG_NAME>;

/** Why a rung did not act, or that it did. */
export const REASON_KIND = word([
  "applies",
  /** It would apply, but max_loops is used up: the scope ends. */
  "max_loops_used",
  /** Nothing in the file asks for this rung. */
  "not_configured",
  /** The rung is not for this kind of failure or step. */
  "does_not_concern",
  "single_attempt",
  "routing_off",
  "remediation_step",
  "run_list_step",
  "no_rule_matches",
  "rule_matched",
  /** A rule is to raise what the attempt has passed, and the job has no such requirement. */
  "nothing_to_raise",
  /** Like the previous one, but it already has as much as the rule allows. */
  "at_resource_limit",
  "retry_is_useless",
  "not_retryable",
  "no_progress",
  "no_restarts_left",
  "breaker_not_open",
  /** It was parked until then. */
  "breaker_spent",
  "no_attempts_left",
  "no_retries_left",
  /** The failure asks for a longer wait than a retry has. */
  "asks_for_longer",
  "no_resets_left",
  "no_remediation_left",
  "no_gotos_left",
  "no_rounds_left",
  "no_target",
  "no_transition_matches",
  "class_not_queued",
  "rebuild_failed",
  /** An undo or finally step is not routed. */
  "ends_run",
  "continue_on_failure",
]);
export type ReasonKind = Of<typeof REASON_KIND>;

/** `probe`: this one is to find out whether what it uses works again. */
export const UNPARK_REASON = word(["closed", "spent", "probe"]);
export type UnparkReason = Of<typeof UNPARK_REASON>;

/** Why jobs are skipped. */
export const SKIP_CAUSE = word(["if", "dependency", "join", "not_routed", "only"]);

export const EVALUATION_PURPOSE = word([
  "if",
  "on_fail.run_js",
  "on_fail.goto_js",
  "on_success.run_js",
  "on_success.goto_js",
  "transition",
  /** Whether the output of another job keeps what the failed one promises. */
  "stand_in",
]);
export type EvaluationPurpose = Of<typeof EVALUATION_PURPOSE>;

/** What became of a failure that met the failure handlers. */
export const HANDLER_OUTCOME = word([
  "Retried",
  "NoHandler",
  "NoMatchingRule",
  "MaxRetriesExceeded",
  "LimitReached",
  "Error",
]);
export type HandlerOutcome = Of<typeof HANDLER_OUTCOME>;

/** How a person or an agent decides a hold. */
export const HOLD_ACTION = word(["retry", "fail", "skip", "complete"]);
export type HoldAction = Of<typeof HOLD_ACTION>;

export const READY_REASON = word([
  "start",
  "dependencies",
  "restart",
  "breaker",
  "rule",
  "edge",
  "operator",
  "retry",
  "reset",
  "remediation",
  "goto",
  "requeue",
  "routed",
  "undo",
  "finally",
  /** The program of a flow has called it. */
  "called",
  /** The program of a flow goes on: something that it waits for has an outcome. */
  "outcome",
]);
export type ReadyReason = Of<typeof READY_REASON>;

/**
 * `interrupted`: the engine was asked to stop and has ended the attempt itself, so nothing is lost or charged. `reset`:
 * an operator restarts the step in a fresh workspace. `flow_ended`: the program that has called it is over.
 */
export const STOP_REASON = word([
  "superseded",
  "canceled",
  "fail_fast",
  "loop_budget",
  "interrupted",
  "reset",
  "flow_ended",
]);
export type StopReason = Of<typeof STOP_REASON>;

/** Why a run list entered a job: to repair the job that asked, or to follow its success. */
export const VISIT_ROLE = word(["remediation", "follow_up"]);
export type VisitRole = Of<typeof VISIT_ROLE>;

/** Why a step is to go on in a fresh workspace. */
export const RESET_TRIGGER = word(["no_progress", "requeue", "operator"]);
export type ResetTrigger = Of<typeof RESET_TRIGGER>;

/** How a failed step is brought back. */
export const HEAL_STRATEGY = word(["soft_reset", "hard_reset", "requeue"]);
export type HealStrategy = Of<typeof HEAL_STRATEGY>;

/** What max_loops bounds. */
export const LOOP_TRANSITION = word([
  "retry",
  "remediate",
  "goto",
  "edge",
  "on_success.goto",
  "on_success.edge",
]);
export type LoopTransition = Of<typeof LOOP_TRANSITION>;

/** A result of the sandbox: a value of the right type, or the reason why there is none. */
export const EVALUATION_RESULT = one(
  "ok",
  object({ ok: just(true), value: json, duration_ms: number }),
  object({ ok: just(false), code: text, reason: text, duration_ms: number }),
);
export type EvaluationResult = Of<typeof EVALUATION_RESULT>;

export const JOB_RAISE_FIELDS = { ...RAISE_FIELDS, job: jobId } as const;
export const JOB_RAISE = object(JOB_RAISE_FIELDS);
export type JobRaise = Of<typeof JOB_RAISE>;

export const ATTEMPT_NAME_FIELDS = { job: jobId, attempt: count } as const;
export const ATTEMPT_NAME = object(ATTEMPT_NAME_FIELDS);
export type AttemptName = Of<typeof ATTEMPT_NAME>;

/** Changes in a workspace as a patch, whose path is relative to the run's folder. */
const KEPT_FILES_FIELDS = { patch: text, files: number } as const;
export const KEPT_FILES = object(KEPT_FILES_FIELDS);
export type KeptFiles = Of<typeof KEPT_FILES>;

/** What an attempt left behind and did not complete, as a patch. */
export const KEPT_LEFTOVER_FIELDS = { ...ATTEMPT_NAME_FIELDS, ...KEPT_FILES_FIELDS } as const;
export const KEPT_LEFTOVER = object(KEPT_LEFTOVER_FIELDS);
export type KeptLeftover = Of<typeof KEPT_LEFTOVER>;

/** What a completed step has left in the workspace. The worker makes it before the completion is on record. */
export const CHECKPOINT_FACTS_FIELDS = {
  /** On the run's private ref. */
  commit: text,
  diff_hash: nullable(text),
  changed_files: list(text),
  /** Path of the patch file. */
  patch: text,
  /** The store has the patch, too. */
  stored: optional(flag),
} as const;
export const CHECKPOINT_FACTS = object(CHECKPOINT_FACTS_FIELDS);
export type CheckpointFacts = Of<typeof CHECKPOINT_FACTS>;

/** `ordinal` counts the checkpoints of a run from 1. */
export const CHECKPOINT_FIELDS = { ...CHECKPOINT_FACTS_FIELDS, ordinal: count } as const;
export const CHECKPOINT = object(CHECKPOINT_FIELDS);
export type Checkpoint = Of<typeof CHECKPOINT>;

/** A checkpoint that has another commit, because one that it stood on was taken back. */
export const MOVED_CHECKPOINT = object(pick(CHECKPOINT_FIELDS, "ordinal", "commit"));
export type MovedCheckpoint = Of<typeof MOVED_CHECKPOINT>;

/** What a user could miss in a new workspace. */
export const WORKSPACE_NOTE = one(
  "kind",
  object({ kind: just("empty_submodules"), paths: list(text) }),
  object({ kind: just("lfs_pointers") }),
);
export type WorkspaceNote = Of<typeof WORKSPACE_NOTE>;

/** Identifies the output folder that has the run's workspace, since several may have one. */
export const WORKSPACE_HOME_FIELDS = {
  /** Unique; the folder itself says it, too. */
  home: text,
  host: text,
} as const;
export const WORKSPACE_HOME = object(WORKSPACE_HOME_FIELDS);
export type WorkspaceHome = Of<typeof WORKSPACE_HOME>;

/** One transition looked at, and why it did or did not match. */
export const EDGE_CONSIDERED_FIELDS = { edge: id, to: text, matched: flag, why: text } as const;
export const EDGE_CONSIDERED = object(EDGE_CONSIDERED_FIELDS);
export type EdgeConsidered = Of<typeof EDGE_CONSIDERED>;

/** The diagnostics of a failure's route. `selected_edge_id` is the edge's place among the transitions. */
export const FAILURE_ROUTE_FIELDS = {
  attempted: flag,
  selected_edge_id: nullable(id),
  target_node_id: nullable(jobId),
  target_node_key: nullable(text),
  status: word(["selected", "already_scheduled", "no_route", "skipped_terminal"]),
  considered: list(EDGE_CONSIDERED),
} as const;
export const FAILURE_ROUTE = object(FAILURE_ROUTE_FIELDS);
export type FailureRoute = Of<typeof FAILURE_ROUTE>;

/** What becomes of the workspace on the way back. */
export const FILES_POLICY = word(FILES_POLICIES);

export const RUNG_CONSIDERED_FIELDS = {
  rung: RUNG_NAME,
  applied: flag,
  /** The reason for programs; `reason` is for people. */
  kind: REASON_KIND,
  reason: text,
} as const;
export const RUNG_CONSIDERED = object(RUNG_CONSIDERED_FIELDS);
export type RungConsidered = Of<typeof RUNG_CONSIDERED>;

/** The no-progress limit is reached: by so many failures in a row that say and leave the same, or by going to and fro. */
export const NO_PROGRESS_FIELDS = {
  streak: number,
  limit: number,
  oscillation: flag,
  /** The rounds of a loop are counted, in which what was to mend the failure left the same files. */
  rounds: optional(flag),
} as const;
export const NO_PROGRESS = object(NO_PROGRESS_FIELDS);
export type NoProgress = Of<typeof NO_PROGRESS>;

/** A declared file as an attempt found or left it. */
export const FILE_FACTS_FIELDS = {
  role: word(["input", "output"]),
  /** As the workflow has it. */
  path: text,
  /** Null for a folder. */
  bytes: nullable(number),
  modified_at: number,
  sha256: nullable(text),
} as const;
export const FILE_FACTS = object(FILE_FACTS_FIELDS);
export type FileFacts = Of<typeof FILE_FACTS>;

/** How a decision about a hold put an end to a job, in place of the job itself. */
export const DECISION_FIELDS = {
  how: word(["skip", "complete"]),
  /** Null: nobody said so, or nobody decided in time. */
  by: nullable(text),
  /** Nobody decided in time, and the file says what then. */
  expired: flag,
} as const;
export const DECISION = object(DECISION_FIELDS);

/** What of a completed child run was not mended: failures that were handled, and jobs that a decision put an end to. */
export const UNCLEAN_CHILD = object({ run_id: id, handled: count, decided: count });
export type UncleanChild = Of<typeof UNCLEAN_CHILD>;

/** What a model call cost, as its provider counts it; null where it does not say. */
export const TOKEN_USAGE_FIELDS = {
  provider: text,
  model: text,
  input_tokens: nullable(number),
  output_tokens: nullable(number),
  total_tokens: nullable(number),
  reasoning_tokens: nullable(number),
  cached_input_tokens: nullable(number),
} as const;
export const TOKEN_USAGE = object(TOKEN_USAGE_FIELDS);
export type TokenUsage = Of<typeof TOKEN_USAGE>;

/** The resource use of all processes of an attempt's group that were waited for. */
export const PROCESS_USAGE_FIELDS = {
  /** The most memory that one of them had at a time, or all of them together where that was looked at and is more. */
  peak_memory_bytes: number,
  /** User and system time of all of them. */
  cpu_ms: number,
  /** From disks and to disks, not what memory already had; missing where the system does not count it. */
  read_bytes: optional(number),
  written_bytes: optional(number),
} as const;
export const PROCESS_USAGE = object(PROCESS_USAGE_FIELDS);
export type ProcessUsage = Of<typeof PROCESS_USAGE>;

/** What an attempt took. What its processes used is missing where nobody could tell. */
export const ATTEMPT_COST_FIELDS = { ...perhaps(PROCESS_USAGE_FIELDS), duration_ms: number } as const;
export const ATTEMPT_COST = object(ATTEMPT_COST_FIELDS);
export type AttemptCost = Of<typeof ATTEMPT_COST>;

/** An attempt of another run; 0: the job was completed without one. */
export const ATTEMPT_ELSEWHERE_FIELDS = { run: id, attempt: count } as const;
export const ATTEMPT_ELSEWHERE = object(ATTEMPT_ELSEWHERE_FIELDS);
export type AttemptElsewhere = Of<typeof ATTEMPT_ELSEWHERE>;

/** An output small enough for the log, or a pointer to the artifact that holds it with its first part. */
export const OUTPUT = naming(
  "output",
  one(
    "kind",
    object({ kind: just("value"), value: json }),
    object({ kind: just("artifact"), path: text, bytes: number, sha256: text, preview: text }),
  ),
);
export type Output = Of<typeof OUTPUT>;

export const SCOPE_ITEM_FIELDS = {
  key: text,
  /** What people call it, where its key is only its place. */
  name: optional(text),
} as const;
export const SCOPE_ITEM = object(SCOPE_ITEM_FIELDS);
export type ScopeItem = Of<typeof SCOPE_ITEM>;

/** A job that was visited after the success of another, or because it had failed. */
export const LEAD_FIELDS = { scope: text, step: text, on: word(["success", "failure"]) } as const;
export const LEAD = object(LEAD_FIELDS);
export type Lead = Of<typeof LEAD>;

/** What of a job that was taken over was not its own success: taken over, it is that no less. */
const HOW_NOT_BY_ITSELF = { decided: optional(DECISION), below: optional(UNCLEAN_CHILD) } as const;

/** A job of the run that this one was forked from that is not done again. */
export const REUSED_JOB_FIELDS = {
  scope: text,
  step: text,
  output: OUTPUT,
  items: nullable(list(SCOPE_ITEM)),
  user_data: optional(record(json)),
  /** Where it really ran. That run may itself have reused it. */
  origin: ATTEMPT_ELSEWHERE,
  /** For a step that declares files: as that attempt found and left them. */
  files: optional(list(FILE_FACTS)),
  /** Where its routing led, so that nothing leads there again. By default nowhere. */
  leads: optional(list(LEAD)),
  /** It failed with this, and that job's output took the place of its own: it stays so. */
  stood_in: optional(object({ scope: text, step: text, failure: FAILURE })),
  ...HOW_NOT_BY_ITSELF,
} as const;
export const REUSED_JOB = object(REUSED_JOB_FIELDS);
export type ReusedJob = Of<typeof REUSED_JOB>;

/** What made a run, where that may ask more than once: a second creation is the first run. */
export const RUN_CAUSE_FIELDS = {
  /** `key/...` if a key was given. For automatic runs, what started them, such as `schedule/NAME/ID/TICK`. */
  mark: text,
  /** A hash of what was asked for under a key, which must be the same the next time; null: the mark says it all. */
  request: nullable(text),
} as const;
export const RUN_CAUSE = object(RUN_CAUSE_FIELDS);
export type RunCause = Of<typeof RUN_CAUSE>;

/** What `daruma run` overrides for one run; frozen with it. */
export const RUN_OPTIONS_FIELDS = {
  max_loops: nullable(number),
  retry_max: nullable(number),
  failure_routing: flag,
  /** Single-step mode: exactly one attempt of this step, nothing else is scheduled. */
  only: nullable(text),
  /** The run whose completed jobs it took over, and how many; null: it was to take over some, and there was no such run. */
  reused: optional(object({ from: nullable(id), jobs: count })),
  /** The file of the program that started it, where functions of that program are steps: only it goes on with the run. */
  program: optional(text),
  /** It was exported elsewhere and can only be read here: nothing of it is ever executed. */
  imported: optional(just(true)),
  /** A failure that something handled makes the exit code 1 and stands in reports as a failure. The status stays what it is. */
  strict: optional(just(true)),
} as const;
export const RUN_OPTIONS = object(RUN_OPTIONS_FIELDS);
export type RunOptions = Of<typeof RUN_OPTIONS>;

/**
 * What the first event of an operator's request carries: the key by which the same request is known again, and who
 * asked (the name of a token, `command line`, an agent).
 */
const ASKED = { reason: text, key: nullable(text), by: optional(text) } as const;
/** What it carries where a step is to work again: text for that step, redacted. */
const ASKED_OF_STEP = { ...ASKED, hint: optional(text) } as const;

/** The events of workspaces, hard resets and the queue. */
const HEAL_EVENTS = {
  "reset.reserved": {
    ...ATTEMPT_NAME_FIELDS,
    trigger: RESET_TRIGGER,
    /** The number of the run's hard reset; null if it costs none. */
    reset: nullable(count),
    max: nullable(number),
    ...ASKED_OF_STEP,
  },
  "requeue.scheduled": {
    ...ATTEMPT_NAME_FIELDS,
    requeue: count,
    max: number,
    delay_ms: number,
    due_at: time,
    reason: text,
  },
  "job.dead_lettered": { ...ATTEMPT_NAME_FIELDS, code: text, queue_attempts: count },
  "workspace.opened": {
    commit: text,
    /** If the commit has submodules: the commit that holds their files, from which changes are counted. */
    base: optional(text),
    path: text,
    notes: optional(list(WORKSPACE_NOTE)),
    ...perhaps(WORKSPACE_HOME_FIELDS),
  },
  /** Another server has built it from the checkpoints in an output folder of its own, where steps work from now on. */
  "workspace.moved": { path: text, moved: optional(list(MOVED_CHECKPOINT)), ...WORKSPACE_HOME_FIELDS },
  /** A server could not have the workspace, and leaves the run to one that can. */
  "workspace.left": { host: text, message: text },
  "rebuild.started": {
    rebuild: id,
    /** The job that is to go on in it; for a goto, its target. */
    job: jobId,
    barrier: nullable(id),
    try: count,
    /** Ordinals of the checkpoints to replay, in order. */
    replay: list(count),
    /** What lies in the workspace that is about to be replaced; it is kept as a patch where that is possible. */
    leftover: optional(nullable(ATTEMPT_NAME)),
  },
  "rebuild.finished": {
    rebuild: id,
    job: jobId,
    ok: flag,
    path: nullable(text),
    message: text,
    /** What replayed checkpoints are called in it; where none is named, as before. */
    moved: optional(list(MOVED_CHECKPOINT)),
    partial: optional(nullable(KEPT_LEFTOVER)),
    /** Changes in the old workspace that no attempt had made, such as those of a person. */
    others: optional(KEPT_FILES),
    /** What the checkpoints that a way back cuts off had changed, as one patch. */
    previous: optional(text),
    duration_ms: number,
  },
  "set_aside.started": {
    ...ATTEMPT_NAME_FIELDS,
    /** The job that is to start there. */
    for: jobId,
    /** The fresh workspace in which it lies; null: the run's own. */
    rebuild: nullable(id),
    try: count,
    /** A job whose failure had the tree, and which a breaker keeps back. */
    kept_back: optional(jobId),
  },
  "set_aside.finished": {
    ...ATTEMPT_NAME_FIELDS,
    for: jobId,
    ok: flag,
    /** Relative to the run's folder; null where nothing was left. */
    patch: nullable(text),
    files: count,
    message: text,
    duration_ms: number,
  },
  "workspace.promoted": { rebuild: id, job: jobId, path: text },
  "workspace.discarded": { rebuild: id, job: jobId, path: nullable(text), reason: text },
} as const;

/** What the program of a flow calls. */
const FLOW_EVENTS = {
  /** It has called this step. A second one of the same job repeats the call: an attempt of the program, or a definition, is new. */
  "step.declared": {
    job: jobId,
    /** The program, and in which of its attempts. */
    by: jobId,
    attempt: count,
    scope: text,
    step: text,
    /** What is unusual in it; null: it is as the step of that name in this scope, or in those of other items. */
    definition: nullable(record(json)),
    /** The steps of its `on_fail.run`. */
    repairs: optional(list(record(json))),
    /** How many outcomes the program had been given when it called. */
    after: count,
    /** Where in the program, as `file:line`. */
    source: optional(text),
  },
  /** These functions go on when their program calls them: until then nobody can execute them. */
  "calls.awaited": { jobs: list(jobId), reason: READY_REASON },
  /** Nobody executes it: it completes at this moment, or when what it waits for comes. */
  "wait.begun": { job: jobId, due_at: nullable(time) },
  /** It completes with this, and nobody has executed it. */
  "job.given": { job: jobId, output: OUTPUT, items: nullable(list(SCOPE_ITEM)) },
  /** The program waits for these, and nobody executes it until one of them has an outcome. */
  "attempt.suspended": { ...ATTEMPT_NAME_FIELDS, awaits: list(jobId), ...ATTEMPT_COST_FIELDS },
} as const;

/**
 * Everything that can happen in a run. The log of these is the truth; `evolve` folds it into a `Run`, the tables are
 * projections of it. `job` and `jobs` are job ids; `attempt` counts from 1 in its job.
 */
export const EVENTS = {
  "run.created": {
    workflow: text,
    workflow_id: id,
    definition_hash: text,
    inputs: record(json),
    context: record(json),
    options: RUN_OPTIONS,
    folder: text,
    file: nullable(text),
    parent: nullable(object({ run_id: id, job_id: id })),
    /** Servers go on with it by themselves. */
    managed: flag,
    cause: optional(RUN_CAUSE),
    labels: optional(record(text)),
    /** Its group, with templates filled in. A child run has none: its top-level run has the place. */
    concurrency: optional(RUN_CONCURRENCY),
    priority: optional(number),
    failure_handlers: list(object({ name: text, id })),
  },
  "run.started": {},
  "run.resumed": { lost: list(ATTEMPT_NAME) },
  "run.held": { jobs: list(jobId) },
  "run.forked": {
    from: id,
    /** Where it begins to repeat steps. By default wherever something has changed since. */
    step: optional(text),
    reason: text,
    reuse: list(REUSED_JOB),
  },
  /** It would end like this: what it has done is undone and its `finally` steps run before. */
  "run.ending": { status: word(["completed", "failed", "canceled"]), code: nullable(text), message: text },
  /** These have completed and are to be undone, in this order. */
  "undo.started": { jobs: list(jobId) },
  /** `job` has a visit to undo `of`. */
  "undo.entered": { job: jobId, visit: count, of: jobId },
  "undo.left": { job: jobId, of: jobId, undone: flag },
  "finally.entered": { job: jobId, visit: count },
  "run.completed": { handled: list(jobId) },
  "run.failed": { code: text, message: text, unhandled: list(jobId) },
  /** `code`: why, where it was not a person's wish. */
  "run.canceled": { reason: text, code: optional(text) },
  /** From now on the time of the run counts, until these moments. */
  "time.counted": { deadline_at: nullable(time), warn_at: nullable(time) },
  /** It is paused or held; so much of its time is used. */
  "time.stopped": { used_ms: time },
  "time.warned": { after_ms: count },
  "scopes.opened": { job: jobId, generation: count, items: list(SCOPE_ITEM) },
  "scope.abandoned": {
    scope: text,
    because: STOP_REASON,
    code: text,
    reason: text,
    canceled: list(jobId),
    stopping: list(jobId),
  },
  "join.decided": {
    job: jobId,
    satisfied: flag,
    completed: count,
    failed: count,
    skipped: count,
    handled: list(jobId),
  },
  "jobs.ready": { jobs: list(jobId), reason: READY_REASON },
  "jobs.skipped": {
    jobs: list(jobId),
    because: SKIP_CAUSE,
    reason: text,
  },
  "jobs.canceled": { jobs: list(jobId), code: text, reason: text },
  "jobs.stopping": { jobs: list(jobId), because: STOP_REASON, reason: text },
  "job.created": { job: jobId, step: text, scope: text },
  "job.released": { job: jobId },
  "job.failed": {
    job: jobId,
    code: text,
    message: text,
    handled: nullable(just("continue_on_failure")),
    part_of: nullable(jobId),
    routed: flag,
  },
  "job.reused": {
    job: jobId,
    output: OUTPUT,
    items: nullable(list(SCOPE_ITEM)),
    user_data: optional(record(json)),
    origin: ATTEMPT_ELSEWHERE,
    /** It has failed there, and its dependents have had the output of `by`. */
    stood_in: optional(object({ by: jobId, failure: FAILURE })),
    ...HOW_NOT_BY_ITSELF,
  },
  "job.held": {
    job: jobId,
    code: text,
    message: text,
    /** When nobody has decided by then, this is done. Missing: it waits. */
    due_at: optional(time),
    due_action: optional(HOLD_ACTION),
    /** It had failed, and its program ended with that failure. */
    uncaught: optional(just(true)),
  },
  "routes.settled": { handled: list(jobId), unhandled: list(jobId) },
  "visit.requested": { job: jobId, by: jobId, role: VISIT_ROLE },
  "visit.entered": { job: jobId, visit: count, by: jobId, role: VISIT_ROLE },
  "visit.left": { job: jobId, by: jobId, role: VISIT_ROLE, ok: flag },
  "attempt.started": {
    ...ATTEMPT_NAME_FIELDS,
    visit: count,
    worker: text,
    token: text,
    node: optional(nullable(text)),
    allocation: optional(nullable(text)),
    restart: optional(nullable(count)),
    /** What starts its text, where the definition leaves that to what the worker has. */
    shell: optional(word(SHELL_WORDS)),
    /** Why there, where that is not the room alone. */
    placed: optional(word<Placed>()),
    /** A job whose failure had the tree, and which a breaker keeps back: it has let go of it. */
    kept_back: optional(jobId),
  },
  "attempt.succeeded": {
    ...ATTEMPT_NAME_FIELDS,
    output: OUTPUT,
    items: nullable(list(SCOPE_ITEM)),
    checkpoint: nullable(CHECKPOINT),
    /** Token usage of a model call. */
    usage: optional(TOKEN_USAGE),
    /** For a step that declares files: inputs as they were before it began, outputs as it left them. */
    files: optional(list(FILE_FACTS)),
    /** For a job that writes user data. */
    user_data: optional(record(json)),
    /** For a step whose child run completed, though not all in it was mended. */
    below: optional(UNCLEAN_CHILD),
    ...ATTEMPT_COST_FIELDS,
  },
  "attempt.failed": {
    ...ATTEMPT_NAME_FIELDS,
    error: FAILURE,
    /** The JSON that it gave all the same. */
    output: optional(OUTPUT),
    no_progress: nullable(NO_PROGRESS),
    /** What it left in the workspace, relative to the run's folder; null: too large to be kept. Missing: nothing. */
    patch: optional(nullable(text)),
    /** These were open for failures of its class: it is no sign of missing progress. */
    breakers: optional(list(text)),
    /** Of the program of a flow: the step whose failure it ended with. */
    because: optional(jobId),
    ...ATTEMPT_COST_FIELDS,
  },
  "attempt.stopped": { ...ATTEMPT_NAME_FIELDS, because: STOP_REASON, ...ATTEMPT_COST_FIELDS },
  /** The step's `if` could not be evaluated: a failure without an attempt, which climbs as any other. */
  "if.failed": { job: jobId, error: FAILURE },
  /** `attempt` is 0, here and in what follows from it, where the step's `if` failed before there was one. */
  "ladder.climbed": {
    ...ATTEMPT_NAME_FIELDS,
    rung: RUNG_NAME,
    considered: list(RUNG_CONSIDERED),
    recovery: nullable(HANDLER_OUTCOME),
    failure_route: nullable(FAILURE_ROUTE),
  },
  "restart.granted": { ...ATTEMPT_NAME_FIELDS, recovery: count, limit: count },
  /** The job waits for these breakers, and its attempt counts for nothing. */
  "job.parked": { ...ATTEMPT_NAME_FIELDS, breakers: list(text) },
  /** They go on; with `spent` their failures climb on and count as any other. */
  "jobs.unparked": { jobs: list(jobId), breaker: text, because: UNPARK_REASON },
  "rule.reserved": {
    ...ATTEMPT_NAME_FIELDS,
    next: count,
    handler: text,
    rule: count,
    exit_code: nullable(number),
    max_attempts: number,
    script: nullable(text),
    /** What the failed attempt has passed: the job has more of it from now on. */
    raised: optional(RAISE),
  },
  "recovery.started": { ...ATTEMPT_NAME_FIELDS, try: count, token: text },
  /** Its engine stopped in good order and has ended it: it begins again, and this start counts for nothing. */
  "recovery.interrupted": ATTEMPT_NAME_FIELDS,
  "recovery.finished": {
    ...ATTEMPT_NAME_FIELDS,
    ok: flag,
    exit_code: nullable(number),
    message: text,
    duration_ms: number,
  },
  "human.asked": {
    ...ATTEMPT_NAME_FIELDS,
    prompt: text,
    choices: list(text),
    due_at: nullable(time),
    /** What counts as the answer when there is none by then. Missing: the attempt fails. */
    choose: optional(text),
  },
  "edge.taken": {
    ...ATTEMPT_NAME_FIELDS,
    edge: id,
    target: jobId,
    to: text,
    on: word(["success", "failure"]),
    status: word(["selected", "already_scheduled"]),
    /** After a failure: what becomes of it when the route has completed. */
    then: optional(word(ROUTE_ENDS)),
    counted: flag,
    /** Which loop of the scope it is, if it counts as one. */
    loop: nullable(count),
    considered: list(EDGE_CONSIDERED),
  },
  /** Its failure is handled: dependents see it as completed, with the output of `by`. */
  "job.stood_in": {
    job: jobId,
    by: jobId,
    /** For a forEach job: the items of that output. */
    items: nullable(list(SCOPE_ITEM)),
  },
  "retry.scheduled": {
    ...ATTEMPT_NAME_FIELDS,
    retry: count,
    max: number,
    delay_ms: number,
    due_at: time,
    reason: text,
  },

  ...HEAL_EVENTS,
  ...FLOW_EVENTS,

  // Going back, by a failure, a success or an operator, and the end of going back.
  "goto.taken": {
    ...ATTEMPT_NAME_FIELDS,
    target: jobId,
    to: text,
    trigger: word(["failure", "success"]),
    /** Which goto of the job after this outcome it is, and how many it may take. */
    goto: count,
    max: nullable(number),
    /** Which loop of the scope it is. */
    loop: count,
    reason: text,
  },
  "operator.goto": {
    target: jobId,
    to: text,
    /** The target and all that depends on it: they begin again, with their gotos. */
    jobs: list(jobId),
    ...ASKED_OF_STEP,
  },
  "barrier.opened": {
    barrier: id,
    target: jobId,
    forced: flag,
    from: nullable(jobId),
    edge: nullable(id),
    /** Missing: the run has no workspace. */
    files: optional(FILES_POLICY),
    members: list(jobId),
    merged: list(id),
  },
  "barrier.closed": {
    barrier: id,
    invalidated: list(jobId),
    retired: list(jobId),
    /** Ordinals of the checkpoints that count no more; missing: none. */
    cut: optional(list(count)),
  },
  "loop.exceeded": {
    job: jobId,
    scope: text,
    transition: LOOP_TRANSITION,
    /** What was compared with `max`: loops of the scope, and for a retry the retries of this job in this run too. */
    count: count,
    /** The retries among `count`. */
    retries: count,
    max: number,
  },

  // What operators ask for.
  "run.cancel_requested": {
    /** Missing: somebody wished it. */
    code: optional(text),
    /** Nothing is undone, and no `finally` step runs. */
    now: optional(just(true)),
    ...ASKED,
  },
  /** `job`: whom the hint is for. */
  "run.paused": { takeover: flag, job: optional(jobId), ...ASKED_OF_STEP },
  "run.unpaused": ASKED,
  "run.reopened": ASKED,
  "hold.resolved": {
    job: jobId,
    action: HOLD_ACTION,
    /** Nobody decided in time. */
    expired: optional(just(true)),
    output: nullable(OUTPUT),
    items: nullable(list(SCOPE_ITEM)),
    ...ASKED,
  },
  "jobs.retried": {
    jobs: list(jobId),
    reblocked: list(jobId),
    /** Failed jobs whose failure has led to one of these: what becomes of them is open again. */
    rerouted: optional(list(jobId)),
    action: RETRIED_BY,
    /** What some of them have more of from now on. */
    raised: optional(list(JOB_RAISE)),
    /** Attempts in all that the job may have: whatever would begin another after that does not. */
    max_attempts: optional(count),
    ...ASKED_OF_STEP,
  },
  /** Its next attempt starts whatever its breakers say. */
  "job.let_through": { job: jobId, ...ASKED_OF_STEP },
  "human.answered": {
    ...ATTEMPT_NAME_FIELDS,
    choice: text,
    text: text,
    reason: optional(text),
    key: nullable(text),
    by: optional(text),
    /** Nobody answered in time. */
    expired: optional(just(true)),
  },

  "remediation.started": {
    ...ATTEMPT_NAME_FIELDS,
    /** Which repair of the visit it is, and how many there may be. */
    remediation: count,
    max: number,
    steps: list(text),
    jobs: list(jobId),
    reason: text,
  },
  "remediation.finished": {
    job: jobId,
    ok: flag,
    failed_step: nullable(text),
    /** Which loop of the scope the re-attempt is; null without one. */
    loop: nullable(count),
  },
  "follow_up.started": { job: jobId, steps: list(text), jobs: list(jobId), reason: text },
  "follow_up.finished": { job: jobId, ok: flag, failed_step: nullable(text) },
  "evaluation.requested": {
    id: id,
    job: jobId,
    purpose: EVALUATION_PURPOSE,
    considered: list(RUNG_CONSIDERED),
    code: nullable(text),
  },
  "evaluation.finished": {
    id: id,
    job: jobId,
    purpose: EVALUATION_PURPOSE,
    result: EVALUATION_RESULT,
  },
} as const;

export type EventType = keyof typeof EVENTS;
/** The event of one type, or of any of several types. */
export type EventOf<type extends EventType> = type extends EventType
  ? { readonly type: type } & OfFields<(typeof EVENTS)[type]>
  : never;
export type HealEvent = EventOf<keyof typeof HEAL_EVENTS>;
export type FlowEvent = EventOf<keyof typeof FLOW_EVENTS>;
export type Event = EventOf<EventType>;

/** An event as it stands in the log. `at` is milliseconds since the epoch. */
export interface LoggedEvent {
  readonly seq: number;
  readonly at: number;
  readonly event: Event;
}
