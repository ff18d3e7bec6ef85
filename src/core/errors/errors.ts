/** One code of the catalogue. */
export interface CatalogueEntry {
  readonly means: string;
  readonly next: string;
  /** Replaces `next` over REST and MCP. */
  readonly asked?: string;
  /** The part of `next` that is about the cause, where the rest says how to go on. */
  readonly fix?: string;
}

/** What can be wrong with a workflow file or with the inputs of a run: nothing has begun. */
export const WORKFLOW_FILE_ERRORS = {
  FILE_NOT_FOUND: { means: "The file does not exist or cannot be read.", next: "Check the path." },
  FILE_EXISTS: {
    means: "The file to write already exists. Daruma does not overwrite it.",
    next: "Choose another name, or remove the file first.",
  },
  FILE_TOO_LARGE: {
    means: "The workflow or settings file is larger than 64 MB.",
    next: "Split it, or use `parameters` instead of many similar steps.",
  },
  NOT_A_FILE: {
    means: "A folder, pipe or device was named where a file is needed.",
    next: "Name a regular file. Save the output of a pipe to a file first.",
  },
  NOT_A_WORKFLOW: {
    means: "A program, a Makefile or a file of another tool was named where a workflow file is needed.",
    next: "Name a workflow file; `daruma init` writes a first one.",
    asked: "Name a workflow file.",
  },
  YAML_SYNTAX: { means: "The file is not valid YAML or JSON.", next: "Fix the syntax at the given place." },
  UNKNOWN_KEY: {
    means: "The file has an unknown key.",
    next: "Fix the spelling; the JSON Schema of workflow files lists every key.",
  },
  WRONG_TYPE: {
    means: "A value has the wrong type.",
    next: "Give a value of the type named in the message.",
  },
  MISSING_KEY: { means: "A required key is missing.", next: "Add the key." },
  INVALID_VALUE: { means: "A value is outside what is allowed.", next: "Choose one of the allowed values." },
  DUPLICATE_ID: {
    means: "Two steps, jobs, failure handlers or resource requirements have the same name.",
    next: "Rename one of them.",
  },
  UNKNOWN_STEP: {
    means: "The file names a step that it does not define.",
    next: "Fix the name or define the step.",
  },
  UNKNOWN_NAME: {
    means: "An expression, template or condition reads a name that does not exist.",
    next: "Fix the name. docs/workflow-file.md lists them all in the section Variables.",
  },
  UNKNOWN_HANDLER: {
    means: "The file names a failure handler that it does not define.",
    next: "Fix the name or define it under `failure_handlers`.",
  },
  UNKNOWN_BREAKER: {
    means: "A step uses a breaker that neither its file nor the settings define.",
    next: "Fix the name, define it under `breakers`, or name the settings that have it with --config.",
    asked:
      "Fix the name, or define it under `breakers` of the workflow; the server's settings may define it too.",
  },
  UNKNOWN_CHANNEL: {
    means: "A rule of `notify`, or a command, names a channel that the settings do not define.",
    next: "Fix the name, or define it under `channels` of the settings; `daruma config check` lists them.",
    asked: "Fix the name; the channels are in the server's settings.",
  },
  CHANNEL_FAILED: {
    means: "A message could not be sent to a channel.",
    next: "Fix what the message names; `daruma config check` says whether the channel's secret is set. Then try `daruma notifications test CHANNEL`.",
    asked: "Fix what the message names, or ask whoever runs the server.",
  },
  CHANNEL_SECRET: {
    means: "The secret of a channel is missing or cannot be used.",
    next: "Set the variable, or write the file, that the channel's `secret` names; `daruma config check` says which are missing.",
    asked: "Ask whoever runs the server to set the secret that the channel names.",
  },
  CYCLE: {
    means: "Steps depend on each other in a circle.",
    next: "Remove one of the dependencies in the printed circle.",
  },
  GOTO_NOT_ANCESTOR: {
    means: "A goto names a step that the jumping step does not depend on.",
    next: "Add the target to depends_on, directly or through another step.",
  },
  CROSS_SCOPE: {
    means: "A goto, run list or transition names a step of another forEach scope.",
    next: "Route to a step within the same scope.",
  },
  RUN_TARGET: {
    means: "A run list names the step itself or one of its dependents.",
    next: "Name a step that does not depend on this one.",
  },
  NO_START: {
    means: "No step of the file can start.",
    next: "Add a step without depends_on that nothing routes to, or set `start: auto`.",
  },
  FAN_OUT: {
    means: "forEach, reduce or join is used where it cannot work.",
    next: "See docs/workflow-file.md, section forEach.",
  },
  EXPRESSION_SYNTAX: {
    means: "An expression does not compile.",
    next: "Fix the JavaScript at the given place.",
  },
  TEMPLATE_SYNTAX: { means: "A template does not compile.", next: "Fix the Liquid at the given place." },
  BUDGET_TOO_SMALL: {
    means: "max_loops is smaller than the routing it must cover (a warning).",
    next: "Raise routing.max_loops, or lower retry.max or goto_max.",
  },
  NO_EFFECT: {
    means: "The key has no effect here (a warning).",
    next: "Remove it, or remove what overrides it.",
  },
  RETRY_OF_DETERMINISTIC: {
    means: "retry.on names a code whose class is never retried; the code wins (a warning).",
    next: "Remove it unless a retry can really help.",
  },
  SECRET_IN_ENV: {
    means: "A name listed under `secrets` is also set in `env`, so its value is in the file (a warning).",
    next: "Remove it from `env` and set it in the environment of the worker.",
  },
  OUTPUT_MAY_BE_MISSING: {
    means: "A step reads the output of another step that may not have run before it (a warning).",
    next: "Depend on that step, or check that its output exists.",
  },
  UNQUOTED_IN_SHELL: {
    means: "A template in a shell line is not quoted, or quoted twice (a warning).",
    next: "Write `{{ ... | sh }}`, without quotes around it.",
  },
  SHELL_STOPS: {
    means: "A step looks at how a command ended that ends the step if it fails (a warning).",
    next: "Write `COMMAND || code=$?`, or `set +e` before it.",
  },
  PIPE_HIDES: {
    means: "A failure before a pipe is not noticed by the step's shell (a warning).",
    next: "Add `shell: bash` to the step or to the file.",
  },
  NEEDS_BASH: {
    means: "A step sets `pipefail` under `sh`, which knows it on some machines only (a warning).",
    next: "Add `shell: bash` to the step or to the file.",
  },
  UNREACHABLE_STEP: {
    means:
      "Nothing can ever start the step. It is a warning where the file itself says `start: routed`: somebody may still start it with `daruma resume-from RUN STEP`.",
    next: "Name it in a run list or a transition of a step that runs, or set `start: auto`; else remove it.",
  },
  FALLBACK_SKIPS: {
    means:
      "A transition on failure does not say what becomes of the steps that depend on the failed one: they are skipped, and the run completes (a warning).",
    next: "Add `then: continue`, `then: fail` or `then: skip` to the transition.",
  },
  UNREACHABLE_RUNG: {
    means: "A goto without a bound goes back at every failure, so a later rung is never reached (a warning).",
    next: "Bound it: `goto: { step: X, max: 1 }`.",
  },
  RESTORES_AGENT: {
    means: "A way back takes an agent's own changes from it (a warning).",
    next: "Write `files: keep`, or remove `files`.",
  },
  INVALID_INPUT: {
    means: "An input of a run, or a field of a request, is missing, unknown or of the wrong type.",
    next: "Give what the message names; an input of a run is --input name=value.",
    asked: "Give what the message names.",
  },
} as const satisfies Record<string, CatalogueEntry>;

/**
 * Every code a user can see: one line of what it means, one of what to do next. Where that speaks of commands and flags,
 * `asked` says it for those who ask over REST or MCP. `docs/errors.md` is checked against this table. Codes are stable:
 * programs match on them.
 */
export const ERROR_CATALOGUE = {
  // The workflow file
  ...WORKFLOW_FILE_ERRORS,
  // Failures of an attempt
  TIMEOUT: thenRetryOrFork(
    "The attempt ran longer than its timeout_ms.",
    "Find out what took so long, or raise timeout_ms.",
  ),
  IDLE_TIMEOUT: thenRetryOrFork(
    "The attempt printed nothing for idle_timeout_ms.",
    "Make the step print its progress, or raise idle_timeout_ms.",
  ),
  NETWORK_ERROR: thenRetry("A connection failed.", "Check the address and the network."),
  OOM: thenRetryOrFork(
    "The attempt used more memory than the step's `memory` allows, or the system ended it because there was no memory left.",
    "Make the step use less memory, or raise `memory`.",
  ),
  WALLTIME: thenRetryOrFork(
    "The attempt ran longer than the step's `runtime` allows.",
    "Find out what took so long, or raise `runtime`.",
  ),
  TEMPLATE_ERROR: inFile(
    "A template could not be rendered.",
    "Correct the template: what it names must exist when the step starts.",
  ),
  OUTPUT_INVALID: thenRetryOrFork(
    "The output does not match the step's schema (`outputs`), or contains something that JSON cannot represent; or the user data that a job wrote is not what it names.",
    "Correct what the step writes to stdout, $DARUMA_OUTPUT or $DARUMA_USER_DATA_OUT.",
  ),
  SCRIPT_ERROR: inFile("The script threw an error.", "Correct the script; the message says what it threw."),
  SPAWN_ERROR: thenRetry(
    "The process could not be started.",
    "Check that the program exists, may be executed, and that `cwd` exists.",
  ),
  SIGNALED: thenRetry(
    "A signal that Daruma did not send ended the process.",
    "Find out what sent it. Often it is the system, because memory ran out.",
  ),
  WORKER_LOST: thenRetry(
    "The worker or the engine died during the attempt.",
    "Daruma restarts it automatically, up to max_recoveries times. After that, find out why workers die while they run it.",
  ),
  EVICTED: thenRetry(
    "What the attempt ran on was taken away: its worker was being stopped, or another process used up the machine's memory.",
    "Daruma restarts it automatically, up to max_recoveries times. After that, find out why its workers are stopped while they run it.",
  ),
  ALLOCATION_CANCELED: thenRetry(
    "Somebody canceled the cluster's allocation that was made for this job alone.",
    "Find out who canceled it and why, and let the cluster submit allocations again.",
  ),
  CHILD_INVALID: {
    means: "The child run of a `workflow` step could not start.",
    fix: "Correct the child's file, or give it the inputs that it needs; see the message.",
    next: "Correct the child's file, then run the step again: `daruma retry RUN STEP`. The inputs that the step passes are in the file of this run, which the run keeps: `daruma fork RUN --from STEP --file FILE`.",
    asked:
      "Correct the child's file, then run the step again: control_run with action retry_step. The inputs that the step passes are in the file of this run, which the run keeps: fork_run with a corrected text in `source`.",
  },
  CHILD_OUTSIDE: {
    means: "The file of a `workflow` step is not inside the folder of its run. A server requires that.",
    fix: "Move the file into that folder, or start a run with a folder that contains it.",
    next: "Move it into that folder, or start the run with a --folder that contains it.",
    asked: "Move it into that folder, or start the run with a `folder` that contains it.",
  },
  CHILD_FAILED: {
    means: "The child run of a `workflow` step did not complete.",
    fix: "Fix what failed in the child run.",
    next: "See `daruma explain` of the child run named in the message.",
    asked: "See explain_run of the child run named in the message.",
  },
  ARTIFACT_MISSING: thenRetry(
    "An output that was stored as a file cannot be read.",
    "Put the file back where the message says.",
  ),
  REJECTED: {
    means: "A person chose an answer that fails the step.",
    fix: "Find out why the person rejected it.",
    next: "`daruma explain RUN STEP` shows the answer; `daruma retry RUN STEP` asks again.",
    asked: "explain_run shows the answer; control_run with action retry_step asks again.",
  },
  NO_WORKER: inFile(
    "The step asks for tags (`runs_on`), GPUs or machines that this worker does not have.",
    "Run it on a server that has a worker with these, or correct `runs_on` or `resource_requirements`.",
  ),
  MISSING_SECRET: thenRetry(
    "A variable named in `secrets` is not set.",
    "Set it in the environment of the process that executes the step: the command line, the server or its worker.",
  ),
  PACKAGE_MISSING: thenRetry(
    "The step or the store needs a package that is not installed with Daruma.",
    "Install it with the command in the message, where daruma is installed.",
  ),
  REQUEST_INVALID: inFile(
    "The HTTP request or model call is invalid and was not sent.",
    "Correct what the message names: url, method, headers, body or expect_status; base_url or model.",
  ),
  PROVIDER_ERROR: thenRetry(
    "The model provider failed without a status that explains why.",
    "See the message. Such failures often pass.",
  ),
  CONTENT_FILTERED: inFile(
    "The model provider withheld the answer.",
    "Change the prompt: the same one will be withheld again.",
  ),
  ACCESS_DENIED: thenRetry(
    "The action was refused because a permission or credential is missing.",
    "Give it the credential.",
  ),
  VALIDATION_ERROR: thenRetryOrFork(
    "The action rejected its input as invalid.",
    "Correct the input; see the message.",
  ),
  REPO_ERROR: thenRetry(
    "A repository refused: a conflict, a protected branch or a missing ref.",
    "Resolve it in the repository.",
  ),
  ACTION_FAILED: {
    means: "The action failed and gave only a message.",
    fix: "Find out why the action failed. It gave only the message.",
    next: "See the message, and what the step printed: `daruma logs RUN STEP`.",
    asked: "See the message, and what the step printed: get_job_logs.",
  },
  LOG_FAILED: thenRetry(
    "An attempt's log file could not be written. If the disk is just full, Daruma waits instead.",
    "Check that the disk is not full and the output folder is writable.",
  ),
  FILE_LIMIT: {
    means: "The limit on open files is too low to load Daruma and run a step.",
    next: "Raise the limit first: `ulimit -n 1024`.",
    asked: "Ask the server's administrator to raise its limit on open files.",
  },
  // Decisions
  LOOP_BUDGET_EXCEEDED: thenRetryOrFork(
    "max_loops allows no further retry, repair, goto or transition back.",
    "Fix the failure that the message names, bound the goto (`goto: { step: X, max: 1 }`), or raise routing.max_loops.",
  ),
  REMEDIATION_FAILED: thenRetryOrFork(
    "A step of on_fail.run failed, so the repair did not happen.",
    "Find out why the repair failed; see its own error and output.",
  ),
  JOIN_UNSATISFIED: thenRetryOrFork(
    "Too few branches of a fan-out completed.",
    "Fix what failed in the branches, or tolerate it with a looser `join`.",
  ),
  DEPENDENCY_FAILED: {
    means: "A step that this one depends on failed.",
    fix: "Fix the failure of the step that it depends on.",
    next: "`daruma explain RUN` says which and why; once it completes, this one runs.",
    asked: "explain_run says which and why; once it completes, this one runs.",
  },
  INPUT_MISSING: thenRetryOrFork(
    "A file that the step names among its inputs is not there.",
    "Put the file in its place, or correct its path.",
  ),
  OUTPUT_MISSING: thenRetryOrFork(
    "The step succeeded without making a file, or writing user data, that it names among its outputs.",
    "Find out why it was not made, or correct its path or name.",
  ),
  USER_DATA_TOO_LARGE: thenRetryOrFork(
    "The user data that the job reads is too large to be handed to it.",
    "Write large values to files, and name these in `files`.",
  ),
  FAIL_IF: thenRetryOrFork(
    "The attempt succeeded, but the step's `fail_if` is true for its output.",
    "Look at the output of the attempt; the message has the expression.",
  ),
  FAIL_IF_ERROR: inFile(
    "The step's `fail_if` could not be evaluated.",
    "Correct the expression; the message says what is wrong.",
  ),
  IF_FAILED: inFile(
    "The step's `if` could not be evaluated.",
    "Correct the expression; the message says what is wrong.",
  ),
  RESET_FAILED: {
    means:
      "A fresh workspace could not be built from the checkpoints, or what another attempt left could not be set aside.",
    fix: "Fix what the message names, such as a missing patch or a file in the way.",
    next: "Fix what the message names, such as a missing patch or a file in the way; then `daruma hard-reset RUN STEP`.",
    asked:
      "Fix what the message names, such as a missing patch or a file in the way; then control_run with action hard_reset_step.",
  },
  STALLED: {
    means: "The run cannot continue although it is not over. This is a bug in Daruma.",
    next: "Report it with the printed dump.",
  },
  RUN_CANCELED: {
    means: "The run was canceled.",
    fix: "Find out who canceled the run, and why.",
    next: "If that was a mistake: `daruma reset RUN` continues what was canceled. If it was undone, start a new run.",
    asked:
      "If that was a mistake: control_run with action reset_failed continues what was canceled. If it was undone, start a new run.",
  },
  DEADLINE: {
    means: "The run took longer than its `deadline` and was canceled.",
    fix: "Find out what took so long, or raise `deadline`.",
    next: "`daruma timeline RUN` says what took how long; `daruma reset RUN` continues what was canceled, with a new deadline. If it was undone, start a new run.",
    asked:
      "control_run with action reset_failed continues what was canceled, with a new deadline. If it was undone, start a new run.",
  },
  FAIL_FAST: {
    means: "Another step failed and failure_policy is fail_fast.",
    fix: "Fix the failure of the step that failed first.",
    next: "`daruma explain RUN` says which and why; `daruma reset RUN` runs every failed or canceled step again.",
    asked:
      "explain_run says which and why; control_run with action reset_failed runs every failed or canceled step again.",
  },
  NOT_AN_ARRAY: thenRetry(
    "A forEach step's output is not an array.",
    "Make the step print a JSON array, or write one to $DARUMA_OUTPUT.",
  ),
  TOO_MANY_ITEMS: thenRetryOrFork(
    "The forEach steps of the run would have more items than max_items allows.",
    "Put several items into one (for example, batches of 100), or raise max_items.",
  ),
  // Expressions
  EXPRESSION_TIMEOUT: inFile("An expression ran too long and was stopped.", "Make it simpler."),
  EXPRESSION_MEMORY: inFile("An expression used too much memory.", "Make it simpler."),
  EXPRESSION_THREW: inFile("An expression threw an error.", "Correct it; the message says what it threw."),
  EXPRESSION_TOO_LONG: {
    means: "An expression is longer than 8 KB.",
    next: "Shorten it, or move the logic into a step.",
  },
  EXPRESSION_RESULT: inFile(
    "An expression returned a value of the wrong type or size.",
    "Make it return what its key expects.",
  ),
  EXPRESSION_STOPPED: {
    means: "An expression was stopped because its result is no longer needed.",
    next: "Nothing if the run was stopped on purpose. Otherwise: `daruma resume RUN`.",
    asked: "Nothing if the run was stopped on purpose. Otherwise: control_run with action resume.",
  },
  SANDBOX_FAILED: {
    means: "The sandbox for expressions could not start, or crashed.",
    next: "See the message; check that the installation is complete.",
  },
  // Workspaces
  WORKSPACE_BRANCH_EXISTS: {
    means: "The branch cannot be created: it exists already, or another branch is in its way.",
    next: "Give another name with --branch.",
    asked: "Give another `branch`.",
  },
  WORKSPACE_BRANCH_INVALID: {
    means: "git does not accept this branch name.",
    next: "Give another name with --branch.",
    asked: "Give another `branch`.",
  },
  WORKSPACE_ELSEWHERE: {
    means:
      "The workspace of the run is in another output folder, and cannot be rebuilt here from its checkpoints.",
    next: "Continue the run where its files are, or fix what the message names; the run waits.",
  },
  WORKSPACE_FORK: {
    means: "The forked run would lack the files that earlier steps have left in the workspace.",
    next: "Go back within the run itself: `daruma resume-from RUN STEP`.",
    asked: "Go back within the run itself: control_run with action resume_from_step.",
  },
  WORKSPACE_GIT_FAILED: {
    means: "git failed unexpectedly.",
    next: "See the message; check the disk and the permissions.",
  },
  WORKSPACE_GIT_MISSING: {
    means: "The program git is not installed, or too old for workspaces.",
    next: "Install git 2.32 or newer.",
  },
  WORKSPACE_NOT_FOUND: {
    means: "The run has no workspace, or its folder is gone.",
    next: "If the workflow has a workspace, `daruma hard-reset RUN STEP` builds it again from its checkpoints.",
    asked:
      "If the workflow has a workspace, control_run with action hard_reset_step builds it again from its checkpoints.",
  },
  WORKSPACE_OBJECTS_MISSING: {
    means: "The repository lacks contents of the commit: it is a partial clone, or damaged.",
    next: "Check out the commit there, which fetches what a partial clone lacks; `git fsck` shows damage.",
  },
  WORKSPACE_PATCH_ALTERED: {
    means: "The patch of a checkpoint is not the recorded one, so the workspace was not rebuilt.",
    next: "Put the file back, or go back to a step before it: `daruma resume-from RUN STEP`.",
    asked: "Put the file back, or go back to a step before it: control_run with action resume_from_step.",
  },
  WORKSPACE_PATCH_FAILED: {
    means: "The patch of a checkpoint does not apply, so the workspace was not rebuilt.",
    next: "Go back to a step before it: `daruma resume-from RUN STEP`.",
    asked: "Go back to a step before it: control_run with action resume_from_step.",
  },
  WORKSPACE_PATCH_MISSING: {
    means: "The patch of a checkpoint is gone, so the workspace was not rebuilt.",
    next: "Put the file back, or go back to a step before it: `daruma resume-from RUN STEP`.",
    asked: "Put the file back, or go back to a step before it: control_run with action resume_from_step.",
  },
  WORKSPACE_PATCH_TOO_LARGE: {
    means: "A step changed more than git can replay from one patch.",
    next: "List large results in a .gitignore, or split the step.",
  },
  WORKSPACE_REF_NOT_FOUND: {
    means: "The repository has no such branch, tag or commit.",
    next: "Correct `workspace.ref` in the file.",
  },
  WORKSPACE_REPO_NOT_FOUND: {
    means: "There is no git repository there, or git refuses to read it.",
    next: "Correct `workspace.repo` in the file; see the message.",
  },
  WORKSPACE_SUBMODULE_CHANGED: {
    means:
      "The run has changed files of a submodule, which a branch of the repository around it cannot hold.",
    next: "Take the result as a patch: `daruma apply RUN --patch FILE`, then `git apply FILE` in the repository.",
    asked: "Request it without `branch`, and apply the patch with `git apply` in the repository.",
  },
  WORKSPACE_SUBMODULE_MISSING: {
    means: "A submodule that is checked out in the repository lacks the commit that is pinned.",
    next: "Run `git submodule update --init --recursive` in the repository.",
    asked: "Check out the submodules in the repository.",
  },
  // Store, leases, commands
  ARTIFACT_NOT_FOUND: {
    means: "The run has no artifact of this name.",
    next: "See `daruma artifacts RUN`.",
    asked: "list_artifacts lists them.",
  },
  FILES_REMOVED: {
    means: "The logs or artifacts of the run were removed, as the settings say (retention).",
    next: "The run's error records still have the last lines: see `daruma explain RUN`. `retention` in the settings says how long files are kept.",
    asked: "explain_run still has the error records with the last lines of each failed attempt.",
  },
  DRAFT_CONFLICT: {
    means: "Somebody else has saved the draft in the meantime.",
    next: "Read it again, merge the two, and save on top of the new revision.",
  },
  DRAFT_NOT_FOUND: {
    means: "There is no draft of this name.",
    next: "See `daruma workflow drafts`.",
    asked: "list_drafts lists them.",
  },
  HANDLER_NOT_FOUND: {
    means: "There is no failure handler with this id.",
    next: "See `daruma handlers`.",
    asked: "list_failure_handlers lists them.",
  },
  IMPORT_INVALID: {
    means: "The document is not a run that `daruma export` wrote, or it was changed afterwards.",
    next: "Export the run again with `daruma export RUN`.",
    asked: "Export the run again with export_run.",
  },
  IMPORTED_RUN: {
    means:
      "The run was imported. It can only be read: it cannot be resumed, retried, decided, applied or forked from.",
    next: "Start its workflow from a file of your own. `daruma show`, `explain`, `logs`, `export`, `cancel` and `prune` work on it.",
    asked: "Start its workflow from a text of your own. It can be read, exported, canceled and pruned.",
  },
  JOB_NOT_FOUND: {
    means: "There is no job with this id.",
    next: "See `daruma jobs`.",
    asked: "list_jobs lists them.",
  },
  NO_RUNNER: {
    means: "This process cannot run workflows.",
    next: "Use `daruma run`, or send it to a server (`daruma serve`).",
    asked: "Send it to a server; this process only reads a store.",
  },
  FLOW_CHANGED: {
    means:
      "The program of a flow does not call what it had called before in this run. Nothing new was begun.",
    fix: 'Say `was: "NAME"` for a step under a new name, `added: true` for a new one, or run the program as it was.',
    next: "Then `daruma resolve RUN STEP --retry`, where the step is main: it goes on where it was.",
    asked: "The program has to be corrected. Then the hold of main is decided with retry.",
  },
  FLOW_FAILED: {
    means: "The program of a flow ended with an error that no step of it is to blame for.",
    fix: "Correct the program. What its steps have done is on record, and is not done again.",
    next: "Then `daruma retry RUN`.",
    asked: "The program has to be corrected. Then control_run with action retry_step goes on with main.",
  },
  FLOW_ENDED: {
    means: "The program of a flow was over before this step that it had called, and nobody waited for it.",
    fix: "Await the step if its outcome matters.",
    next: "Nothing: the run does not fail because of it.",
    asked: "Nothing: the run does not fail because of it.",
  },
  NAME_IN_USE: {
    means:
      "A program called a step while an earlier call of that name was open, so nobody could tell the two apart.",
    fix: 'Await the first, use `s.map`, or give each call a name of its own: `["pack", item.sku]`.',
    next: "Correct the program, then `daruma retry RUN`.",
    asked: "The program has to be corrected. Then control_run with action retry_step goes on with main.",
  },
  NEEDS_PROGRAM: {
    means:
      "Steps of the run are functions of a program, and this process does not have them. Nothing was recorded.",
    next: "Start that program again: with the same key it goes on with the run, else it calls `resume`. Decisions about the run are taken here all the same.",
    asked:
      "The program with these functions goes on with the run. Decisions about it are taken here all the same.",
  },
  RETRIES_USED_UP: {
    means: "The job has used all attempts that max_retries allows.",
    next: "Give a larger --max-retries, or leave it failed.",
    asked: "Give a larger max_retries, or leave it failed.",
  },
  SERVER_UNREACHABLE: {
    means: "The server does not answer, or it is not a Daruma server.",
    next: "Check the address (--server, DARUMA_SERVER), and that `daruma serve` is running there.",
    asked: "Check that the server is running, and check its address.",
  },
  TOKEN_NOT_FOUND: {
    means: "There is no token with this id.",
    next: "See `daruma token list`.",
    asked: "list_tokens lists them.",
  },
  WORKFLOW_NOT_FOUND: {
    means: "There is no stored workflow with this name, id or version.",
    next: "See `daruma workflows`.",
    asked: "list_workflows lists them.",
  },
  WORKFLOW_NOT_PUBLISHED: {
    means:
      "This version of the workflow came from a run or an import and was never published. Only published versions can be started by name.",
    next: "Publish it (`daruma workflow save`, then `daruma workflow publish`), or run its file.",
    asked: "Publish it (save_draft, publish_workflow), or start its text (`source`).",
  },
  CAUSE_TAKEN: {
    means: "Another run with the same cause was recorded first.",
    next: "Nothing: that run is the one that was asked for.",
  },
  DECISIONS_REFUSED: {
    means:
      "Some decisions about held jobs were refused, so none was applied, except where the message says so.",
    next: "Remove or correct the refused ones.",
    asked: "Remove or correct the refused ones; `results` says which and why.",
  },
  KEY_REUSED: {
    means: "The key was already used for a different request.",
    next: "Use a new key for every command and every start. Reuse a key only to repeat the same request.",
  },
  WRONG_RUN: {
    means: "The job belongs to another run.",
    next: "Use the run that the message names, or leave out the run: a job's id is enough.",
  },
  RUN_NOT_FOUND: {
    means: "There is no run with this number.",
    next: "See `daruma list`.",
    asked: "list_runs lists them.",
  },
  STEP_NOT_FOUND: {
    means: "The run does not have this step.",
    next: "See `daruma show RUN`.",
    asked: "get_run lists its steps.",
  },
  STEP_AMBIGUOUS: {
    means: "The step has several jobs in the run, one for each item of a fan-out.",
    next: "Name one of them as STEP@SCOPE, or by its id.",
  },
  ATTEMPT_NOT_FOUND: {
    means: "The step does not have this attempt.",
    next: "See `daruma show RUN`.",
    asked: "get_job lists its attempts.",
  },
  RUN_OWNED: {
    means: "Another process is running this run.",
    next: "Let it finish (`daruma show RUN` shows its progress), or stop that process.",
    asked: "Let it finish; get_run shows its progress.",
  },
  NOT_ASKED: {
    means: "The step is not asking anything at the moment.",
    next: "`daruma holds` lists the open questions.",
    asked: "list_holds lists the open questions.",
  },
  IN_CAMPAIGN: {
    means: "Another campaign that is not over has this job already.",
    next: "`daruma campaigns list` shows it; wait for it, or stop it.",
    asked: "list_campaigns shows it; wait for it, or stop it with control_campaign.",
  },
  CAMPAIGN_NOT_FOUND: {
    means: "There is no campaign with this number.",
    next: "`daruma campaigns list` lists them.",
    asked: "list_campaigns lists them.",
  },
  CAMPAIGN_OVER: {
    means: "The campaign is done or stopped and cannot go on.",
    next: "Start another over what is left: `daruma campaigns start`.",
    asked: "Start another over what is left: start_campaign.",
  },
  FAILURE_NOT_FOUND: {
    means: "The failure book has no failure with this signature.",
    next: "`daruma failures` lists what runs have failed with; add --state all to see muted and resolved failures as well.",
    asked: "list_failures with state all lists what runs have failed with.",
  },
  FAILURE_AMBIGUOUS: {
    means: "Several signatures begin like this.",
    next: "Give more of the signature; `daruma failures --json` prints it whole.",
    asked: "Give more of the signature; list_failures prints it whole.",
  },
  NO_WORKSPACE: {
    means: "The step or its run has no workspace, so there are no files to reset, to keep or to take back.",
    next: "A step that has failed can be retried: `daruma retry RUN STEP`.",
    asked: "A step that has failed can be retried: control_run with action retry_step.",
  },
  NOT_DEAD_LETTER: {
    means: "The job is not a dead letter: the queue has not given up on it.",
    next: "`daruma inbox` lists what can be redriven; a failed job is retried with `daruma retry RUN STEP`.",
    asked:
      "list_dead_letters lists what can be redriven; a failed job is retried by control_run with action retry_step.",
  },
  NOT_HELD: {
    means: "The job is not on hold.",
    next: "`daruma holds` lists what is waiting for a decision; a failed job is retried with `daruma retry RUN STEP`.",
    asked:
      "list_holds lists what is waiting for a decision; a failed job is retried by control_run with action retry_step.",
  },
  GROUP_BUSY: {
    means: "Other runs have all places of the run's concurrency group.",
    next: "Wait until one of them is over, or cancel it. With `policy: queue` a new run waits for its place.",
    asked: "Wait until one of them is over, or cancel it, and repeat the request.",
  },
  NOT_STARTED: {
    means: "The run has not started: it waits for a place in its concurrency group.",
    next: "`daruma show RUN` says what it waits for. Until it starts it can be canceled and paused.",
    asked: "get_run says what it waits for. Until it starts it can be canceled and paused.",
  },
  NOT_PAUSED: {
    means: "The run is not paused.",
    next: "See `daruma show RUN`.",
    asked: "get_run shows its status.",
  },
  NOT_RETRYABLE: {
    means: "The job cannot be retried in its current status.",
    next: "`daruma explain RUN STEP` says what it is waiting for. Only a job that failed, was canceled or is held can be retried.",
    asked:
      "explain_run says what it is waiting for. Only a job that failed, was canceled or is held can be retried.",
  },
  RECOVERY_HOOK_FAILED: {
    means: "The command given with --recovery-hook failed, so nothing was recovered.",
    next: "Repair it, or leave it out. The run is as it was.",
  },
  AGENT_FAILED: {
    means: "The command given with --agent failed or took too long.",
    next: "See what it printed. What it had decided by then is in the log; the rest is still held.",
  },
  HINT_REFUSED: {
    means: "A hint was given with something that lets no step work again, so nobody would read it.",
    next: "Leave it out, or give it with what runs the step again: retry, redrive, reset, hard-reset, resume-from, or takeover with a step.",
  },
  NOT_RAISED: {
    means: "The memory or runtime given to a job is not more than it has, or more than can be given.",
    next: "Give more than the message says it has, or leave the amount out.",
  },
  STEP_COMPLETED: {
    means: "The step has completed.",
    next: "`daruma resume-from RUN STEP` goes back to it: the step and everything that depends on it run again.",
    asked:
      "control_run with action resume_from_step goes back to it: the step and everything that depends on it run again.",
  },
  WORKSPACE_BUSY: {
    means: "A step is running in the workspace.",
    next: "Wait until it ends, or end it with --force.",
    asked: "Wait until it ends, or end it with force: true.",
  },
  RUN_OVER: {
    means: "The run is over.",
    next: "`daruma retry RUN STEP` runs one of its steps again, if nothing of it was undone. Otherwise start a new run.",
    asked:
      "control_run with action retry_step runs one of its steps again, if nothing of it was undone. Otherwise start a new run.",
  },
  RUN_UNDONE: {
    means: "What the run did was undone, or is being undone, so that nothing of it can go on.",
    next: "Start a new run, or `daruma fork RUN --from STEP`: a fork runs the undone steps again.",
    asked: "Start a new run, or fork_run: a fork runs the undone steps again.",
  },
  LEASE_LOST: {
    means: "Another engine has taken over this run.",
    next: "Follow it with `daruma show RUN`.",
    asked: "Ask again; the engine that has it now will answer.",
  },
  STORE_FAILED: {
    means: "The store could not be read or written.",
    next: "Check the disk and the message. Nothing recorded is lost; `daruma resume RUN` continues the run.",
    asked: "Try again in a moment, with the same key if it was a change: it is then applied only once.",
  },
  STORE_GONE: {
    means: "The database file was deleted, replaced or cut short while Daruma used it.",
    next: "Move the old file back if you still have it, or restore a backup (docs/backup.md). Then start Daruma again.",
    asked: "Tell the server's administrator that its database must be restored.",
  },
  STORE_DAMAGED: {
    means: "The database is damaged, or the file is not a Daruma database.",
    next: "Check the path. If it is right, stop everything that uses it, keep a copy, and restore a backup: docs/backup.md.",
    asked: "Tell the server's administrator that its database must be restored from a backup.",
  },
  STORE_READ_ONLY: {
    means:
      "The database cannot be written: its disk or folder is read-only, or you may not write it. Commands that only read work.",
    next: "Make it writable, or copy its whole folder to where you may write and name that one with `--output-dir`.",
    asked: "Tell the server's administrator that its database cannot be written.",
  },
  STALE_ATTEMPT: {
    means: "The attempt does not belong to this worker (any more).",
    next: "Nothing: the run has continued without it.",
  },
  WORKER_NOT_FOUND: {
    means: "The server does not know this worker.",
    next: "Nothing: the worker registers again automatically.",
  },
  RUN_NOT_HERE: {
    means: "This server does not have the attempt's run yet.",
    next: "Nothing: the worker keeps the result and sends it again.",
  },
  STORE_VERSION: {
    means: "The database was made by a Daruma with other tables.",
    next: "Open it with the Daruma that made it, or name another database with `--store`.",
  },
  // The server
  BODY_TOO_LARGE: {
    means: "The request body is larger than the server accepts.",
    next: "Send a smaller body.",
  },
  FORBIDDEN: {
    means: "The token's role does not allow this.",
    next: "Use a token with the role that the message names; `daruma token create` makes one.",
    asked: "Use a token with the role that the message names; an admin can make one with create_token.",
  },
  FOLDER_NEEDED: {
    means:
      "A workflow with `workflow` steps was given to a server as text, without the folder of their files.",
    next: "Start it with --folder DIR, a folder on the server's machine that contains those files.",
    asked: "Start it with `folder`, an absolute path on the server's machine that contains those files.",
  },
  HOST_REFUSED: {
    means: "The request names a host that is not this machine, as a hostile web page would.",
    next: "Use http://127.0.0.1 or http://localhost, or make a token with `daruma token create`.",
    asked: "Use http://127.0.0.1 or http://localhost, or a server that has tokens.",
  },
  MALFORMED_REQUEST: {
    means: "The request is malformed: its address, headers or body.",
    next: "Fix what the message names.",
  },
  MEDIA_TYPE: {
    means: "The server does not accept this content type.",
    next: "Send JSON with `content-type: application/json`.",
  },
  METHOD_NOT_ALLOWED: {
    means: "The address exists, but does not support this method.",
    next: "Use a method listed in the `allow` header.",
  },
  ORIGIN_REFUSED: {
    means: "A web page from another origin tried to make a change.",
    next: "Start the server with --allow-origin if that page is yours.",
    asked: "The server's administrator can allow the origin of that page.",
  },
  RATE_LIMITED: {
    means: "Too many requests in a short time.",
    next: "Wait as long as the `retry-after` header says.",
  },
  TOO_MANY_RUNS: {
    means: "The token has started as many runs as one minute allows.",
    next: "Wait as long as the `retry-after` header says; `daruma serve --runs-per-minute` raises the limit.",
    asked: "Wait for the number of seconds in the answer, then start it again.",
  },
  TOO_MANY_STREAMS: {
    means: "The token, or the server as a whole, has too many event streams open.",
    next: "Close some, or poll instead; `daruma serve --streams-per-token` raises the limit.",
    asked: "Close some, or poll instead.",
  },
  ROUTE_NOT_FOUND: {
    means: "The server has nothing at this address.",
    next: "See /api/v1/docs for the available addresses.",
  },
  TOOL_NOT_FOUND: {
    means: "The MCP server has no tool with this name for this role.",
    next: "Call a listed tool. `daruma mcp --role ROLE`, or a token with a higher role, gives more tools.",
    asked: "Call a listed tool. A token with a higher role gives more tools.",
  },
  SERVER_STOPPING: {
    means: "The server is starting or stopping.",
    next: "Try again in a moment.",
  },
  TOKENS_NEEDED: {
    means:
      "The server would be reachable from other machines, or has a cluster, and there is no valid token.",
    next: "Make one with `daruma token create`, or bind to 127.0.0.1 and use no cluster.",
    asked: "Make one with create_token, or bind to 127.0.0.1 and use no cluster.",
  },
  CLUSTER_NEEDS_SERVER: {
    means: "A step asks for a cluster, and `daruma run` uses no clusters.",
    next: "Start a server with `daruma serve --config FILE`, and send it the file: `daruma run FILE --server URL`.",
    asked: "Start the run on a server whose settings have the cluster.",
  },
  CLUSTER_NOT_FOUND: {
    means: "The settings have no such cluster, or no cluster at all.",
    next: "Name the settings file with --config, or ask the server that has it with --server. `daruma config check FILE` lists the clusters of a file.",
    asked: "Name a cluster of the server's settings.",
  },
  CLUSTER_UNREACHABLE: {
    means:
      "The batch system of a cluster does not answer, or its commands are not installed on this machine.",
    next: "Run the command on a machine where `sinfo` or `qstat` works, or ask the server that has the cluster with --server.",
    asked: "Try again when the batch system answers; the message has its words.",
  },
  SCHEDULE_NOT_FOUND: {
    means: "The newest published version of the workflow has no such schedule.",
    next: "List them with `daruma schedules`. A schedule counts once its workflow is published.",
    asked: "List them with list_schedules. A schedule counts once its workflow is published.",
  },
  BREAKER_NOT_FOUND: {
    means: "There is no breaker of that name.",
    next: "List them with `daruma breakers`. To use one of the settings, name them with --config, or ask the server with --server.",
    asked: "List them with list_breakers.",
  },
  ALLOCATION_NOT_FOUND: {
    means: "There is no allocation with this id or key.",
    next: "See `daruma allocations list`.",
    asked: "See list_allocations.",
  },
  CLUSTER_WORKSPACE: {
    means:
      "A step works in the run's workspace and asks for a cluster, whose nodes do not have the workspace.",
    next: "Set `workspace: false` on the step, or remove the cluster's tag from its `runs_on`.",
  },
  SCHEDULER_NOT_ALLOWED: {
    means:
      "The workflow asks with `slurm_schedulers` for an account, a partition or an option that the settings of the cluster do not allow.",
    next: "Allow it under `schedulers` of the cluster in daruma.config.yaml, or remove it from the workflow file.",
  },
  UNAUTHENTICATED: {
    means: "The request has no token, or its token is unknown, expired or revoked.",
    next: "Send `authorization: Bearer TOKEN`; `daruma token create` makes one.",
    asked: "Send `authorization: Bearer TOKEN`; an admin can make tokens with create_token.",
  },
  WORKFLOW_READER_BUSY: {
    means: "The server is already reading as many large workflows as it can.",
    next: "Try again in a moment.",
  },
  WORKFLOW_TOO_LARGE: {
    means: "The workflow takes more time or memory to read than the server allows.",
    next: "Split it, use `parameters` instead of many similar steps, or run it with `daruma run FILE`.",
    asked: "Split it, or use `parameters` instead of many similar steps.",
  },
  // The program
  USAGE: {
    means: "The command line is invalid.",
    next: "See `daruma --help`.",
    asked: "Correct what the message names.",
  },
  INTERNAL: {
    means: "Something unexpected happened. This is a bug in Daruma.",
    next: "Try again with --debug and report what it prints.",
    asked: "Report it with the reference; the server's log has the details under it.",
  },
  PLATFORM: { means: "This platform is not supported.", next: "Use Linux or macOS." },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** What to do next: as somebody at a command line reads it, and somebody who asks over REST or MCP. */
export interface Advice {
  readonly typed: string;
  readonly asked: string;
}

/** The catalogue's general advice for a code. */
export function adviceFor(code: ErrorCode): Advice {
  const { next: typed, asked = typed }: CatalogueEntry = ERROR_CATALOGUE[code];
  return { typed, asked };
}

interface ErrorOptions {
  readonly hint?: string | Advice;
  readonly cause?: unknown;
  readonly details?: { readonly [name: string]: unknown };
}

/** An error that a user may see. `hint` says what to do next where the catalogue's general word can be bettered. */
export class DarumaError extends Error {
  readonly code: ErrorCode;
  /** What to do next, as somebody at a command line reads it. */
  readonly hint: string;
  /** What to do next, for a caller over REST or MCP. */
  readonly asked: string;
  /** What a program may want to know besides, as JSON. */
  readonly details: { readonly [name: string]: unknown };

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "DarumaError";
    this.code = code;
    const { hint = adviceFor(code) } = options;
    const { typed, asked } = typeof hint === "string" ? { typed: hint, asked: hint } : hint;
    this.hint = typed;
    this.asked = asked;
    this.details = options.details ?? {};
    hideFields(this, ["asked", ...(options.details === undefined ? ["details"] : [])]);
  }
}

/** An uncaught error is printed with all of its own fields: these say nothing that the print does not say already. */
export function hideFields(error: Error, names: readonly string[]): void {
  for (const name of names) Object.defineProperty(error, name, { enumerable: false });
}

/** Faults of the file itself: a run keeps the definition that it started with, so a retry cannot mend them. */
function inFile(means: string, fix: string): Required<CatalogueEntry> {
  const kept = "The run keeps the file it started with. To use a corrected file, start a new run:";
  return {
    means,
    fix,
    next: `${fix} ${kept} \`daruma fork RUN --from STEP --file FILE\`.`,
    asked: `${fix} ${kept} fork_run with its text in \`source\`.`,
  };
}

/** Causes outside of the file: once they are mended, the step can run again in the same run. */
function thenRetry(means: string, fix: string): Required<CatalogueEntry> {
  return {
    means,
    fix,
    next: `${fix} Then run the step again: \`daruma retry RUN STEP\`.`,
    asked: `${fix} Then run the step again: control_run with action retry_step.`,
  };
}

/** Causes that may lie in the file or outside of it. */
function thenRetryOrFork(means: string, fix: string): Required<CatalogueEntry> {
  const { next, asked } = thenRetry(means, fix);
  const kept = "To use a corrected file, start a new run:";
  return {
    means,
    fix,
    next: `${next} ${kept} \`daruma fork RUN --from STEP --file FILE\`.`,
    asked: `${asked} ${kept} fork_run with its text in \`source\`.`,
  };
}
