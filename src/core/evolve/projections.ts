import { DEFAULT_PRIORITY } from "../groups/concurrency.js";
import type { Definition, Scale } from "../model/definition.js";
import type { Event } from "../model/events.js";
import { handlingOf, isUnanswered } from "../model/handled.js";
import { needsEngine } from "../model/resting.js";
import type {
  AttemptRow,
  AttemptStatus,
  CheckpointRow,
  FailureHandlerRow,
  JobRow,
  RouteRow,
  RunRow,
} from "../model/rows.js";
import { type Job, jobById, type Run } from "../model/run.js";
import { placeOf } from "../model/worker-names.js";
import type { RunCheckpoint } from "../model/workspace-state.js";
import { stepPlace } from "../model/written-step.js";
import { labelsText } from "../text/labels.js";
import { searchText } from "../text/search-text.js";
import { tallyOf, waitingJobs } from "./tally-of-run.js";

export function runRow(run: Run): RunRow {
  return {
    id: run.id,
    workflow_id: run.workflowId,
    workflow: run.workflow,
    definition_hash: run.definitionHash,
    status: run.status,
    inputs: run.inputs,
    options: run.options,
    folder: run.folder,
    file: run.file,
    error: run.error,
    parent: run.parent === null ? null : { run_id: run.parent.run_id, job_id: run.parent.job_id },
    managed: run.managed,
    wanted: isWanted(run),
    wanted_at: wantedAt(run),
    cause: run.cause,
    created_at: run.createdAt,
    started_at: run.startedAt,
    finished_at: run.finishedAt,
    labels: Object.keys(run.labels).length === 0 ? null : run.labels,
    search_text: searchText(run.workflow, labelsText(run.labels), ...wordsOf(run.error)),
    recoveries: run.recoveries.total,
    waiting: waitingJobs(run),
    tally: tallyOf(run),
    concurrency: run.concurrency,
    priority: run.priority === DEFAULT_PRIORITY ? null : run.priority,
  };
}

/** A managed run in which something is to be done. */
export function isWanted(run: Run): boolean {
  return run.managed && needsEngine(run);
}

/** When the first hold of a resting run expires. A paused run waits for a resume. */
export function wantedAt(run: Run): number | null {
  if (!run.managed || run.status !== "held") return null;
  let first: number | null = null;
  for (const { dueAt } of run.held) if (dueAt !== null && dueAt < (first ?? Infinity)) first = dueAt;
  return first;
}

function wordsOf(error: { readonly code: string; readonly message: string } | null): string[] {
  return error === null ? [] : [`${error.code}:`, error.message];
}

export function jobRow(run: Run, job: Job): JobRow {
  const handling = job.status === "failed" ? handlingOf(job) : null;
  const handled = handling !== null;
  return {
    id: job.id,
    run_id: run.id,
    ...stepPlace(job),
    status: job.status,
    attempt_id: job.attempt,
    visit: job.visit,
    handled,
    handling,
    stood_in_by: job.stoodInBy?.step.definition.id ?? null,
    skipped_by: job.status === "skipped" ? (job.skippedBy?.id ?? null) : null,
    decided: job.decided,
    below: job.below,
    dead_letter: isDeadLetter(job),
    due_at: job.dueAt,
    error: job.failure ?? job.error,
    output: job.output,
    failure_handler_id: failureHandlerId(run, job),
    unanswered: job.status === "held" || run.asking.has(job) || isUnanswered(run, job),
  };
}

/** A hold that was decided otherwise than by a new visit is no longer anybody's concern. */
function isDeadLetter({ queue, status }: Job): boolean {
  return queue.dead && (status === "failed" || status === "held");
}

function failureHandlerId(run: Run, job: Job): number | null {
  const { failureHandler } = job.step.definition;
  return failureHandler === null ? null : (run.failureHandlerIds.get(failureHandler) ?? null);
}

/** A definition's failure handlers with their rules as JSON, in the words of the workflow file. */
export function failureHandlersOf(definition: Definition): Pick<FailureHandlerRow, "name" | "rules">[] {
  return definition.failureHandlers.map(({ name, rules }) => ({
    name,
    rules: JSON.stringify(
      rules.map((rule) => ({
        exit_codes: rule.exitCodes,
        match_all_exit_codes: rule.matchAll,
        recovery_script: rule.recoveryScript,
        recovery_timeout_ms: rule.recoveryTimeoutMs,
        max_retries: rule.maxAttempts,
        ...(rule.scale === undefined ? {} : { scale: scaleInFile(rule.scale) }),
      })),
    ),
  }));
}

function scaleInFile({ memory, runtime }: Scale): { readonly [key: string]: number | string } {
  return {
    ...(memory === undefined ? {} : { memory: memory.factor }),
    ...(memory?.max == null ? {} : { max_memory: memory.max }),
    ...(runtime === undefined ? {} : { runtime: runtime.factor }),
    ...(runtime?.max == null ? {} : { max_runtime: `${runtime.max}ms` }),
  };
}

/** The attempt that an event began or ended, as its row stands after it. */
export function attemptRow(run: Run, event: Event, at: number): AttemptRow | null {
  switch (event.type) {
    case "attempt.started": {
      const { job, attempt, visit, worker, token } = event;
      return {
        job_id: job,
        attempt,
        run_id: run.id,
        visit,
        worker,
        token,
        status: "running",
        started_at: at,
        finished_at: null,
        error: null,
        ...placeOf(event),
        signature: null,
        search_text: null,
      };
    }
    case "attempt.succeeded":
      return endedAttempt(run, event, "succeeded", at, null);
    case "attempt.failed":
      return endedAttempt(run, event, "failed", at, event.error);
    case "attempt.stopped":
      return endedAttempt(run, event, "stopped", at, null);
    case "attempt.suspended":
      return endedAttempt(run, event, "suspended", at, null);
    default:
      return null;
  }
}

function endedAttempt(
  run: Run,
  event: { job: number; attempt: number; duration_ms: number },
  status: AttemptStatus,
  at: number,
  error: AttemptRow["error"],
): AttemptRow {
  const job = jobById(run, event.job);
  return {
    job_id: event.job,
    attempt: event.attempt,
    run_id: run.id,
    visit: job.attemptVisit,
    worker: job.attemptWorker ?? "",
    token: job.attemptToken ?? "",
    status,
    started_at: job.attemptStartedAt ?? at,
    finished_at: at,
    error,
    ...job.attemptPlace,
    signature: error?.signature ?? null,
    search_text: error === null ? null : searchText(...wordsOf(error)),
  };
}

/** The routing transition that an event took, if it took one. */
export function routeRow(run: Run, event: Event, seq: number, at: number): RouteRow | null {
  switch (event.type) {
    case "restart.granted":
      return route(run, event, seq, at, {
        rung: "restart",
        to: null,
        reason: `worker lost, restart ${event.recovery} of ${event.limit}`,
      });
    case "job.parked":
      return route(run, event, seq, at, {
        rung: "park",
        to: null,
        reason: `waits for ${event.breakers.join(" and ")}`,
      });
    case "retry.scheduled":
      return route(run, event, seq, at, { rung: "retry", to: null, reason: event.reason });
    case "reset.reserved":
      // The row of the requeue has said it already.
      if (event.trigger === "requeue") return null;
      return route(run, event, seq, at, {
        rung: event.trigger === "operator" ? "operator" : "reset",
        to: null,
        reason: event.reason,
      });
    case "requeue.scheduled":
      return route(run, event, seq, at, { rung: "requeue", to: null, reason: event.reason });
    case "rule.reserved":
      return route(run, event, seq, at, {
        rung: "rule",
        to: null,
        reason: `${event.handler}: rule ${event.rule}${event.exit_code === null ? "" : ` for exit code ${event.exit_code}`}, attempts in all ${event.max_attempts}`,
      });
    case "edge.taken":
      return route(run, event, seq, at, {
        rung: event.on === "failure" ? "edge" : "on_success",
        to: event.to,
        reason: `transition ${event.edge}${event.status === "selected" ? "" : ", already scheduled"}`,
      });
    case "undo.entered":
      return route(run, { job: event.of }, seq, at, {
        rung: "undo",
        to: jobById(run, event.job).step.definition.id,
        reason: "the run is undone",
      });
    case "operator.goto":
      return route(run, { job: event.target }, seq, at, { rung: "operator", to: null, reason: event.reason });
    case "remediation.started":
      return route(run, event, seq, at, {
        rung: "remediate",
        to: event.steps.join(", "),
        reason: event.reason,
      });
    case "follow_up.started":
      return route(run, event, seq, at, {
        rung: "on_success",
        to: event.steps.join(", "),
        reason: event.reason,
      });
    case "goto.taken":
      return route(run, event, seq, at, {
        rung: event.trigger === "failure" ? "goto" : "on_success",
        to: event.to,
        reason: event.reason,
      });
    default:
      return null;
  }
}

function route(
  run: Run,
  event: { job: number; attempt?: number },
  seq: number,
  at: number,
  way: { rung: RouteRow["rung"]; to: string | null; reason: string },
): RouteRow {
  const job = jobById(run, event.job);
  const step = job.step.definition.id;
  return {
    run_id: run.id,
    seq,
    at,
    job_id: job.id,
    step,
    scope: job.scope.id,
    attempt: event.attempt ?? job.attempt,
    rung: way.rung,
    to: way.to ?? step,
    reason: way.reason,
  };
}

/** Asked after every event, and nearly always the answer. */
const NONE: readonly CheckpointRow[] = Object.freeze([]);

/** The checkpoints that an event made or changed, as their rows stand after it. */
export function checkpointRows(run: Run, event: Event): readonly CheckpointRow[] {
  const { checkpoints } = run.workspace;
  switch (event.type) {
    case "attempt.succeeded": {
      const made = event.checkpoint?.ordinal;
      if (made === undefined) return NONE;
      return checkpoints.filter(({ ordinal }) => ordinal === made).map((each) => checkpointRow(run, each));
    }
    case "barrier.closed": {
      const cut = new Set(event.cut);
      return checkpoints.filter(({ ordinal }) => cut.has(ordinal)).map((each) => checkpointRow(run, each));
    }
    // A replay gives those that stood on one that was taken back another commit.
    case "workspace.promoted":
    case "workspace.moved":
      return checkpoints.filter(({ superseded }) => !superseded).map((each) => checkpointRow(run, each));
    default:
      return NONE;
  }
}

export function checkpointRow(run: Run, checkpoint: RunCheckpoint): CheckpointRow {
  const {
    ordinal,
    job,
    attempt,
    visit,
    commit,
    diff_hash: diffHash,
    changed_files: changedFiles,
    patch,
  } = checkpoint;
  return {
    run_id: run.id,
    ordinal,
    job_id: job.id,
    step: job.step.definition.id,
    scope: job.scope.id,
    attempt,
    visit,
    commit_id: commit,
    diff_hash: diffHash,
    changed_files: changedFiles,
    patch,
    stored: checkpoint.stored === true,
    superseded: checkpoint.superseded,
    at: checkpoint.at,
  };
}
