import type { CatalogueEntry } from "./catalogue-entry.js";

/** The part of the catalogue in `errors.ts` that is about stores, runs and what operators ask of them. */
export const OPERATOR_ERRORS = {
  ARTIFACT_NOT_FOUND: {
    means: "The run has no artifact of this name.",
    next: "See `daruma artifacts RUN`.",
    asked: "list_artifacts lists them.",
  },
  DRAFT_CONFLICT: {
    means: "Somebody else has saved the draft meanwhile.",
    next: "Read it again, put the two together, and save over the new revision.",
  },
  DRAFT_NOT_FOUND: {
    means: "There is no draft of this name.",
    next: "See `daruma workflow drafts`.",
    asked: "list_drafts lists them.",
  },
  HANDLER_NOT_FOUND: {
    means: "There is no such failure handler.",
    next: "See `daruma handlers`.",
    asked: "list_failure_handlers lists them.",
  },
  IMPORT_INVALID: {
    means: "The document is no run that `daruma export` wrote, or it has been changed since.",
    next: "Export the run again with `daruma export RUN`, by this or an older version of Daruma.",
    asked: "Export the run again with export_run, by this or an older version of Daruma.",
  },
  IMPORTED_RUN: {
    means:
      "The run was imported. It can only be read: it cannot be resumed, retried, decided, applied or forked from.",
    next: "Start its workflow from a file of your own. `daruma show`, `explain`, `logs`, `export`, `cancel` and `prune` work on it.",
    asked: "Start its workflow from a text of your own. It can be read, exported, canceled and pruned.",
  },
  JOB_NOT_FOUND: {
    means: "There is no such job.",
    next: "See `daruma jobs`.",
    asked: "list_jobs lists them.",
  },
  NO_RUNNER: {
    means: "Nothing stays here that could run a workflow.",
    next: "Use `daruma run`, or ask a server: `daruma serve`.",
    asked: "Ask a server: this process only looks into a store.",
  },
  RETRIES_USED_UP: {
    means: "The job has had as many attempts as max_retries allows.",
    next: "Give a larger --max-retries, or leave it failed.",
    asked: "Give a larger max_retries, or leave it failed.",
  },
  SERVER_UNREACHABLE: {
    means: "The server does not answer, or what answers is no Daruma server.",
    next: "Check the address (--server, DARUMA_SERVER) and that `daruma serve` runs there.",
    asked: "Check that the server runs, and its address.",
  },
  TOKEN_NOT_FOUND: {
    means: "There is no such token.",
    next: "See `daruma token list`.",
    asked: "list_tokens lists them.",
  },
  WORKFLOW_NOT_FOUND: {
    means: "There is no stored workflow of this name, id or version.",
    next: "See `daruma workflows`.",
    asked: "list_workflows lists them.",
  },
  WORKFLOW_NOT_PUBLISHED: {
    means:
      "The version of the workflow was registered by a run or an import and never published; only published ones are started by name.",
    next: "Publish it (`daruma workflow save`, then `daruma workflow publish`), or run its file.",
    asked: "Publish it (save_draft, publish_workflow), or start it by its text (`source`).",
  },
  CAUSE_TAKEN: {
    means: "Another run of the same cause was recorded first.",
    next: "Nothing: that run is the one that was asked for.",
  },
  DECISIONS_REFUSED: {
    means:
      "Some of the decisions about held jobs cannot be taken, so none was, unless the message says otherwise.",
    next: "Leave out those that are refused, or correct them.",
    asked: "Leave out those that are refused, or correct them; `results` says which and why.",
  },
  KEY_REUSED: {
    means: "The key was given before, for something else.",
    next: "Give every command and every start a key of its own; the same key only to ask for the same thing again.",
  },
  WRONG_RUN: {
    means: "The job belongs to another run.",
    next: "Name the run that the message names, or leave the run out: a job's id is enough.",
  },
  RUN_NOT_FOUND: {
    means: "There is no such run.",
    next: "See `daruma list`.",
    asked: "list_runs lists them.",
  },
  STEP_NOT_FOUND: {
    means: "The run has no such step.",
    next: "See `daruma show RUN`.",
    asked: "get_run lists its steps.",
  },
  STEP_AMBIGUOUS: {
    means: "The step has several jobs in the run, one for each item of a fan-out.",
    next: "Name one of them, as STEP@SCOPE or by its id.",
  },
  ATTEMPT_NOT_FOUND: {
    means: "The step has no such attempt.",
    next: "See `daruma show RUN`.",
    asked: "get_job lists its attempts.",
  },
  RUN_OWNED: {
    means: "Another process is running this run.",
    next: "Let it finish (`daruma show RUN` says how it stands), or stop that process.",
    asked: "Let it finish; get_run says how it stands.",
  },
  NOT_ASKED: {
    means: "The step asks nothing at the moment.",
    next: "`daruma holds` lists the questions that are open.",
    asked: "list_pending_failed_jobs lists the questions that are open.",
  },
  NO_WORKSPACE: {
    means: "The step does not work in a workspace, so there is nothing to reset.",
    next: "A step that has failed can be retried: `daruma retry RUN STEP`.",
    asked: "A step that has failed can be retried: control_run with action retry_step.",
  },
  NOT_DEAD_LETTER: {
    means: "The job is no dead letter: the queue has not given it up.",
    next: "`daruma dead-letters` lists what can be redriven; a failed job is retried with `daruma retry RUN STEP`.",
    asked:
      "list_dead_letters lists what can be redriven; a failed job is retried by control_run with action retry_step.",
  },
  NOT_HELD: {
    means: "The job is not on hold.",
    next: "`daruma holds` lists what waits for a decision; a failed job is retried with `daruma retry RUN STEP`.",
    asked:
      "list_pending_failed_jobs lists what waits for a decision; a failed job is retried by control_run with action retry_step.",
  },
  NOT_PAUSED: {
    means: "The run is not paused.",
    next: "See `daruma show RUN`.",
    asked: "get_run says how it stands.",
  },
  NOT_RETRYABLE: {
    means: "The job is in a state that cannot be retried.",
    next: "`daruma explain RUN STEP` says what it waits for; only a job that has failed or was canceled can be retried.",
    asked: "explain_run says what it waits for; only a job that has failed or was canceled can be retried.",
  },
  STEP_COMPLETED: {
    means: "The step is completed.",
    next: "`daruma resume-from RUN STEP` goes back to it: it and what depends on it run again.",
    asked: "control_run with action resume_from_step goes back to it: it and what depends on it run again.",
  },
  WORKSPACE_BUSY: {
    means: "A step is at work in the workspace.",
    next: "Wait until it has ended, or end it with --force.",
    asked: "Wait until it has ended, or end it with force: true.",
  },
  RUN_OVER: {
    means: "The run is over.",
    next: "`daruma retry RUN STEP` runs a step of it again; else start a new run.",
    asked: "control_run with action retry_step runs a step of it again; else start a new run.",
  },
  LEASE_LOST: {
    means: "Another engine has taken this run over.",
    next: "Follow it with `daruma show RUN`.",
    asked: "Ask again: whoever has it now answers.",
  },
  STORE_FAILED: {
    means: "The store could not write or read.",
    next: "Check the disk and the message; nothing recorded is lost, `daruma resume RUN` goes on.",
    asked:
      "Ask again in a moment, with the same key if it was a change: it is then done once, however often it is asked for.",
  },
  STORE_GONE: {
    means: "The database file was deleted, replaced or cut short while Daruma used it.",
    next: "Move the old file back if you still have it, else restore a backup (docs/backup.md); then start Daruma again.",
    asked: "Tell whoever runs the server: its database has to be brought back before it can go on.",
  },
  STORE_DAMAGED: {
    means: "The database is damaged, or the file is no database of Daruma's.",
    next: "Check the path. If it is right, stop everything that uses it, keep a copy, and restore a backup: docs/backup.md.",
    asked: "Tell whoever runs the server: its database has to be restored from a backup.",
  },
  STALE_ATTEMPT: {
    means: "The attempt is not, or no longer, this worker's.",
    next: "Nothing: the run has gone on without it.",
  },
  WORKER_NOT_FOUND: {
    means: "The server does not know this worker.",
    next: "It registers again by itself.",
  },
  RUN_NOT_HERE: {
    means: "This server does not have the attempt's run yet.",
    next: "The worker keeps the result and offers it again.",
  },
  STORE_VERSION: { means: "The database was written by a newer Daruma.", next: "Upgrade Daruma." },
} as const satisfies Record<string, CatalogueEntry>;
