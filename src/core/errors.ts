import { WORKFLOW_FILE_ERRORS } from "./workflow-file-errors.js";
import { WORKSPACE_ERRORS } from "./workspace-errors.js";

/**
 * Every code a user can see: one line of what it means, one of what to do next. `docs/errors.md` is checked against
 * this table. Codes are stable: programs match on them.
 */
export const ERROR_CATALOGUE = {
  // The workflow file
  ...WORKFLOW_FILE_ERRORS,
  // Failures of an attempt
  TIMEOUT: { means: "The attempt passed its timeout_ms.", next: "Raise timeout_ms or make the step faster." },
  IDLE_TIMEOUT: {
    means: "The attempt printed nothing for idle_timeout_ms.",
    next: "Raise idle_timeout_ms or print progress.",
  },
  NETWORK_ERROR: {
    means: "A connection failed.",
    next: "Check the address and the network; a retry often helps.",
  },
  HTTP_ERROR: {
    means: "A response had a status that was not expected.",
    next: "See the status; set expect_status if it is right.",
  },
  TEMPLATE_ERROR: {
    means: "A template could not be rendered.",
    next: "Check that every variable it names exists by then.",
  },
  OUTPUT_INVALID: {
    means: "The output does not fit the step's schema, or holds what JSON cannot.",
    next: "Fix the step's output or its `outputs` schema.",
  },
  SCRIPT_ERROR: { means: "The script threw an error.", next: "Fix the script; see the message." },
  SPAWN_ERROR: {
    means: "The process could not be started.",
    next: "Check the command, cwd and permissions.",
  },
  SIGNALED: {
    means: "A signal that Daruma did not send ended the process.",
    next: "Look for what sent it; a retry often helps.",
  },
  WORKER_LOST: {
    means: "The worker or the engine died during the attempt.",
    next: "Nothing: Daruma restarts it by itself.",
  },
  CHILD_INVALID: {
    means: "The child run of a `workflow` step could not begin.",
    next: "Fix the child's file or the inputs it is given; see the message.",
  },
  CHILD_OUTSIDE: {
    means: "The file of a `workflow` step does not lie below the folder of its run, which a server asks for.",
    next: "Put it there, or start the run with a `folder` that holds it.",
  },
  CHILD_FAILED: {
    means: "The child run of a `workflow` step did not complete.",
    next: "See `daruma explain` of the child run named in the message.",
  },
  ARTIFACT_MISSING: {
    means: "An output that was kept as a file cannot be read.",
    next: "Put the file back, or run the step that made it again.",
  },
  REJECTED: {
    means: "A person chose an answer that fails the step.",
    next: "See what was said; a failure edge or retry can take it up.",
  },
  NO_WORKER: {
    means: "The step's `runs_on` asks for tags that this worker does not offer.",
    next: "Run it on a server with such a worker, or fix `runs_on`.",
  },
  MISSING_SECRET: {
    means: "A variable named in `secrets` is not set.",
    next: "Set it in the environment of the worker.",
  },
  REQUEST_INVALID: {
    means: "The HTTP request or model call cannot be sent as it stands.",
    next: "Fix url, method, headers, body or expect_status; base_url or model.",
  },
  PROVIDER_ERROR: {
    means: "The provider of a model failed in a way that it did not explain by a status.",
    next: "See the message; a retry often helps.",
  },
  CONTENT_FILTERED: {
    means: "The provider of a model withheld the answer.",
    next: "Change the prompt; a retry will not help.",
  },
  ACCESS_DENIED: {
    means: "The action was refused for want of a right or a credential.",
    next: "Give it the credential; a retry will not help.",
  },
  VALIDATION_ERROR: {
    means: "The action called its input invalid.",
    next: "Fix the input; a retry will not help.",
  },
  REPO_ERROR: {
    means: "A repository refused: a conflict, a protected branch or a missing ref.",
    next: "Resolve it in the repository.",
  },
  ACTION_FAILED: {
    means: "The action failed and said nothing more typed than its message.",
    next: "See the message.",
  },
  LOG_FAILED: {
    means: "An attempt's log file could not be written.",
    next: "Check that the disk is not full and the folder is writable.",
  },
  UNKNOWN_ACTION: { means: "No action of this type is registered.", next: "Register it, or fix `type`." },
  // Decisions
  LOOP_BUDGET_EXCEEDED: {
    means: "max_loops allows no further retry, repair, goto or transition back.",
    next: "Mend the failure that the message names, bound the goto (`goto: { step: X, max: 1 }`), or raise routing.max_loops.",
  },
  REMEDIATION_FAILED: {
    means: "A step of on_fail.run failed, so the repair did not happen.",
    next: "Fix the remediation step; `daruma explain` shows its error.",
  },
  JOIN_UNSATISFIED: {
    means: "Too few branches of a fan-out completed.",
    next: "See the failed branches; loosen `join` to tolerate them.",
  },
  DEPENDENCY_FAILED: { means: "A step that this one needs failed.", next: "Fix the failed step." },
  IF_FAILED: {
    means: "The step's `if` could not be evaluated.",
    next: "Fix the expression; see the reason.",
  },
  RESET_FAILED: {
    means: "A fresh workspace could not be built from the checkpoints; the old one is as it was.",
    next: "See the message; a patch that is missing or does not apply must be put right by hand.",
  },
  STALLED: {
    means: "Nothing can go on though the run is not over: a defect of Daruma.",
    next: "Report it with the printed dump.",
  },
  RUN_CANCELED: { means: "The run was canceled.", next: "Start it again if that was not meant." },
  FAIL_FAST: { means: "Another step failed and failure_policy is fail_fast.", next: "Fix the failed step." },
  NOT_AN_ARRAY: {
    means: "A forEach step's output is not an array.",
    next: "Print a JSON array, or write it to $DARUMA_OUTPUT.",
  },
  // Expressions
  EXPRESSION_TIMEOUT: { means: "An expression ran too long and was stopped.", next: "Make it simpler." },
  EXPRESSION_MEMORY: { means: "An expression used too much memory.", next: "Make it simpler." },
  EXPRESSION_THREW: { means: "An expression threw an error.", next: "Fix it; see the message." },
  EXPRESSION_TOO_LONG: {
    means: "An expression is longer than 8 KB.",
    next: "Shorten it, or move the logic into a step.",
  },
  EXPRESSION_RESULT: {
    means: "An expression returned a value of the wrong type or size.",
    next: "Return what the key expects.",
  },
  EXPRESSION_STOPPED: {
    means: "An expression was stopped because its result is no longer wanted.",
    next: "Nothing, if the run was stopped on purpose; else resume it.",
  },
  SANDBOX_FAILED: {
    means: "The sandbox for expressions could not start, or crashed.",
    next: "See the message; check that the installation is complete.",
  },
  // Workspaces
  ...WORKSPACE_ERRORS,
  // Store, leases, commands
  ARTIFACT_NOT_FOUND: {
    means: "The run has no artifact of this name.",
    next: "See `daruma artifacts RUN`.",
  },
  DRAFT_CONFLICT: {
    means: "Somebody else has saved the draft meanwhile.",
    next: "Read it again, put the two together, and save over the new revision.",
  },
  DRAFT_NOT_FOUND: { means: "There is no draft of this name.", next: "See `daruma workflow drafts`." },
  HANDLER_NOT_FOUND: { means: "There is no such failure handler.", next: "See `daruma handlers`." },
  IMPORT_INVALID: {
    means: "The document is no run that `daruma export` wrote, or it has been changed since.",
    next: "Export the run again, with the same or an older Daruma.",
  },
  JOB_NOT_FOUND: { means: "There is no such job.", next: "See `daruma jobs`." },
  NO_RUNNER: {
    means: "Nothing stays here that could run a workflow.",
    next: "Use `daruma run`, or ask a server: `daruma serve`.",
  },
  RETRIES_USED_UP: {
    means: "The job has had as many attempts as max_retries allows.",
    next: "Ask with a larger max_retries, or leave it failed.",
  },
  SERVER_UNREACHABLE: {
    means: "The server does not answer, or what answers is no Daruma server.",
    next: "Check the address (--server, DARUMA_SERVER) and that `daruma serve` runs there.",
  },
  TOKEN_NOT_FOUND: { means: "There is no such token.", next: "See `daruma token list`." },
  WORKFLOW_NOT_FOUND: {
    means: "There is no stored workflow of this name, id or version.",
    next: "See `daruma workflows`.",
  },
  WRONG_RUN: { means: "The job belongs to another run.", next: "Name the run that the job belongs to." },
  RUN_NOT_FOUND: { means: "There is no such run.", next: "See `daruma list`." },
  STEP_NOT_FOUND: { means: "The run has no such step.", next: "See `daruma show RUN`." },
  ATTEMPT_NOT_FOUND: { means: "The step has no such attempt.", next: "See `daruma show RUN`." },
  RUN_OWNED: { means: "Another process is running this run.", next: "Let it finish, or stop that process." },
  NOT_ASKED: { means: "The step asks nothing at the moment.", next: "See `daruma show RUN`." },
  NO_WORKSPACE: {
    means: "The step does not work in a workspace, so there is nothing to reset.",
    next: "Retry the step instead: `daruma retry RUN STEP`.",
  },
  NOT_DEAD_LETTER: {
    means: "The job is no dead letter: the queue has not given it up.",
    next: "See `daruma show RUN`; a failed job is retried with `daruma retry`.",
  },
  NOT_HELD: {
    means: "The job is not on hold.",
    next: "See `daruma holds`; a failed job is retried with `daruma retry`.",
  },
  NOT_PAUSED: { means: "The run is not paused.", next: "See `daruma show RUN`." },
  NOT_RETRYABLE: {
    means: "The job is in a state that cannot be retried.",
    next: "A failed or canceled job can be retried; wait until it is, or cancel the run.",
  },
  STEP_COMPLETED: {
    means: "The step is completed.",
    next: "Say --force to go back to it: it and what depends on it run again.",
  },
  WORKSPACE_BUSY: {
    means: "A step is at work in the workspace.",
    next: "Wait until it has ended, or say --force.",
  },
  RUN_OVER: { means: "The run is over.", next: "Start a new run." },
  LEASE_LOST: { means: "Another engine has taken this run over.", next: "Follow it with `daruma show RUN`." },
  STORE_FAILED: {
    means: "The store could not write or read.",
    next: "Check the disk and the message; nothing recorded is lost, `daruma resume RUN` goes on.",
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
  // The server
  BODY_TOO_LARGE: { means: "The request's body is larger than the server takes.", next: "Send less." },
  FORBIDDEN: {
    means: "The token's role may not do this.",
    next: "Use a token of the role that the message names; `daruma token create` makes one.",
  },
  FOLDER_NEEDED: {
    means:
      "A workflow with `workflow` steps was given to a server as text, without the folder of their files.",
    next: "Start it with `folder`, an absolute path on the server's machine from which those files are found.",
  },
  HOST_REFUSED: {
    means: "The request names a host that is not this machine, as a web page of somebody else's would.",
    next: "Use http://127.0.0.1 or http://localhost, or start the server with tokens.",
  },
  MALFORMED_REQUEST: {
    means: "The request cannot be read: its address, headers or body are broken.",
    next: "Fix what the message names.",
  },
  MEDIA_TYPE: {
    means: "The body is not of a type that the server takes.",
    next: "Send JSON with `content-type: application/json`.",
  },
  METHOD_NOT_ALLOWED: {
    means: "The address is there, but not for this method.",
    next: "Use a method that the `allow` header names.",
  },
  ORIGIN_REFUSED: {
    means: "A web page of another origin asked for a change.",
    next: "Start the server with --allow-origin if that page is yours.",
  },
  RATE_LIMITED: {
    means: "Too many requests in too short a time.",
    next: "Wait as long as the `retry-after` header says.",
  },
  ROUTE_NOT_FOUND: {
    means: "The server has nothing at this address.",
    next: "See /api/v1/docs for what there is.",
  },
  SERVER_STOPPING: {
    means: "The server is going down, or not up yet.",
    next: "Ask again in a moment.",
  },
  TOKENS_NEEDED: {
    means: "The server would be open to other machines, and there is no token that can be used.",
    next: "Make one with `daruma token create`, or bind to 127.0.0.1.",
  },
  UNAUTHENTICATED: {
    means: "The request has no token, or one that is unknown, expired or revoked.",
    next: "Send `authorization: Bearer TOKEN`; `daruma token create` makes one.",
  },
  WORKFLOW_READER_BUSY: {
    means: "The server is reading as many large workflows as it can at a time.",
    next: "Ask again in a moment.",
  },
  WORKFLOW_TOO_LARGE: {
    means: "The workflow takes more time or memory to read than the server gives it.",
    next: "Split it, use `parameters` in place of many alike steps, or run it with `daruma run FILE`.",
  },
  // The program
  USAGE: { means: "The command line is wrong.", next: "See `daruma --help`." },
  INTERNAL: {
    means: "Something happened that Daruma did not expect: a defect of Daruma.",
    next: "Try again with --debug and report what it prints.",
  },
  PLATFORM: { means: "This platform is not supported.", next: "Use Linux or macOS." },
} as const satisfies Record<string, { means: string; next: string }>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** An error that a user may see. `hint` says what to do next where the catalogue's general word can be bettered. */
export class DarumaError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;

  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "DarumaError";
    this.code = code;
    this.hint = options.hint ?? ERROR_CATALOGUE[code].next;
  }
}
