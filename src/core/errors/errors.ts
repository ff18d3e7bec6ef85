import { type CatalogueEntry, inFile, thenRetry, thenRetryOrFork } from "./catalogue-entry.js";
import { OPERATOR_ERRORS } from "./operator-errors.js";
import { SERVER_ERRORS } from "./server-errors.js";
import { WORKFLOW_FILE_ERRORS } from "./workflow-file-errors.js";
import { WORKSPACE_ERRORS } from "./workspace-errors.js";

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
    "Let the step print its progress, or raise idle_timeout_ms.",
  ),
  NETWORK_ERROR: thenRetry("A connection failed.", "Check the address and the network."),
  OOM: thenRetryOrFork(
    "The attempt used more memory than the step's `memory` allows.",
    "Let the step use less memory, or raise `memory`.",
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
    "The output does not fit the step's schema (`outputs`), or holds what JSON cannot.",
    "Correct what the step writes to stdout or $DARUMA_OUTPUT.",
  ),
  SCRIPT_ERROR: inFile("The script threw an error.", "Correct the script; the message says what it threw."),
  SPAWN_ERROR: thenRetry(
    "The process could not be started.",
    "Check that the program exists, may be executed, and that `cwd` exists.",
  ),
  SIGNALED: thenRetry(
    "A signal that Daruma did not send ended the process.",
    "Look for what sent it: often the system, because memory ran out.",
  ),
  WORKER_LOST: thenRetry(
    "The worker or the engine died during the attempt.",
    "Daruma restarts it by itself, up to max_recoveries times; after that, find out why workers die while they run it.",
  ),
  CHILD_INVALID: {
    means: "The child run of a `workflow` step could not begin.",
    fix: "Correct the child's file, or give it the inputs that it asks for; see the message.",
    next: "Correct the child's file, then run the step again: `daruma retry RUN STEP`. Inputs that the step gives it stand in the file of this run, which the run keeps: `daruma fork RUN --from STEP --file FILE`.",
    asked:
      "Correct the child's file, then run the step again: control_run with action retry_step. Inputs that the step gives it stand in the file of this run, which the run keeps: fork_run with a corrected text in `source`.",
  },
  CHILD_OUTSIDE: {
    means: "The file of a `workflow` step does not lie below the folder of its run, which a server asks for.",
    fix: "Move the file below that folder, or start a run with a folder that contains it.",
    next: "Move it below that folder, or start the run with a --folder that contains it.",
    asked: "Move it below that folder, or start the run with a `folder` that contains it.",
  },
  CHILD_FAILED: {
    means: "The child run of a `workflow` step did not complete.",
    fix: "Mend what failed in the child run.",
    next: "See `daruma explain` of the child run named in the message.",
    asked: "See explain_run of the child run named in the message.",
  },
  ARTIFACT_MISSING: thenRetry(
    "An output that was kept as a file cannot be read.",
    "Put the file back where the message says.",
  ),
  REJECTED: {
    means: "A person chose an answer that fails the step.",
    fix: "Find out why the answer was a rejection.",
    next: "`daruma explain RUN STEP` says what was answered; `daruma retry RUN STEP` asks again.",
    asked: "explain_run says what was answered; control_run with action retry_step asks again.",
  },
  NO_WORKER: inFile(
    "The step's `runs_on` asks for tags that this worker does not offer.",
    "Run it at a server that has a worker with these tags, or correct `runs_on`.",
  ),
  MISSING_SECRET: thenRetry(
    "A variable named in `secrets` is not set.",
    "Set it in the environment of the process that executes the step: the run of the command line, the server or its worker.",
  ),
  REQUEST_INVALID: inFile(
    "The HTTP request or model call cannot be sent as it stands.",
    "Correct what the message names: url, method, headers, body or expect_status; base_url or model.",
  ),
  PROVIDER_ERROR: thenRetry(
    "The provider of a model failed in a way that it did not explain by a status.",
    "See the message; it often passes.",
  ),
  CONTENT_FILTERED: inFile(
    "The provider of a model withheld the answer.",
    "Change the prompt: the same one will be withheld again.",
  ),
  ACCESS_DENIED: thenRetry(
    "The action was refused because a right or a credential is missing.",
    "Give it the credential.",
  ),
  VALIDATION_ERROR: thenRetryOrFork(
    "The action called its input invalid.",
    "Correct the input; see the message.",
  ),
  REPO_ERROR: thenRetry(
    "A repository refused: a conflict, a protected branch or a missing ref.",
    "Resolve it in the repository.",
  ),
  ACTION_FAILED: {
    means: "The action failed and gave no more than its message.",
    fix: "Find out why the action failed; the message is all that it gave.",
    next: "See the message, and what the step printed: `daruma logs RUN STEP`.",
    asked: "See the message, and what the step printed: get_job_logs.",
  },
  LOG_FAILED: thenRetry(
    "An attempt's log file could not be written, and not just because the disk was full: that is waited for.",
    "Check that the disk is not full and the output folder is writable.",
  ),
  FILE_LIMIT: {
    means: "The process may open too few files for daruma to be loaded and to run a step.",
    next: "Raise the limit first: `ulimit -n 1024`.",
    asked: "Whoever starts the server raises its limit of open files first.",
  },
  UNKNOWN_ACTION: inFile(
    "No action of this type is registered.",
    "Run it with the program that registers the action (docs/library.md), or correct `type`.",
  ),
  // Decisions
  LOOP_BUDGET_EXCEEDED: thenRetryOrFork(
    "max_loops allows no further retry, repair, goto or transition back.",
    "Mend the failure that the message names, bound the goto (`goto: { step: X, max: 1 }`), or raise routing.max_loops.",
  ),
  REMEDIATION_FAILED: thenRetryOrFork(
    "A step of on_fail.run failed, so the repair did not happen.",
    "Find out why the repair failed: its own error and output say it.",
  ),
  JOIN_UNSATISFIED: thenRetryOrFork(
    "Too few branches of a fan-out completed.",
    "Mend what failed in the branches, or tolerate it with a looser `join`.",
  ),
  DEPENDENCY_FAILED: {
    means: "A step that this one needs failed.",
    fix: "Mend the failure of the step that it needs.",
    next: "`daruma explain RUN` says which and why; once it completes, this one runs.",
    asked: "explain_run says which and why; once it completes, this one runs.",
  },
  IF_FAILED: inFile(
    "The step's `if` could not be evaluated.",
    "Correct the expression; the message says what is wrong with it.",
  ),
  RESET_FAILED: {
    means:
      "A fresh workspace could not be built from the checkpoints, or what another attempt left could not be set aside.",
    fix: "Put right what the message names, such as a missing patch or a file in the way.",
    next: "Put right what the message names, such as a missing patch or a file in the way; then `daruma hard-reset RUN STEP`.",
    asked:
      "Put right what the message names, such as a missing patch or a file in the way; then control_run with action hard_reset_step.",
  },
  STALLED: {
    means: "Nothing can go on though the run is not over: a defect of Daruma.",
    next: "Report it with the printed dump.",
  },
  RUN_CANCELED: {
    means: "The run was canceled.",
    fix: "Find out who canceled the run, and why.",
    next: "If that was a mistake: `daruma reset RUN --failed-only`, then `daruma resume RUN`, goes on with what was canceled.",
    asked: "If that was a mistake: control_run with action reset_failed goes on with what was canceled.",
  },
  FAIL_FAST: {
    means: "Another step failed and failure_policy is fail_fast.",
    fix: "Mend the failure of the step that failed first.",
    next: "`daruma explain RUN` says which and why; `daruma reset RUN --failed-only` runs all that failed or was canceled again.",
    asked:
      "explain_run says which and why; control_run with action reset_failed runs all that failed or was canceled again.",
  },
  NOT_AN_ARRAY: thenRetry(
    "A forEach step's output is not an array.",
    "Let the step print a JSON array, or write one to $DARUMA_OUTPUT.",
  ),
  TOO_MANY_ITEMS: thenRetryOrFork(
    "The forEach steps of the run would have more items than max_items allows.",
    "Put several items into one (batches of 100, say), or raise max_items.",
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
    "Let it return what its key expects.",
  ),
  EXPRESSION_STOPPED: {
    means: "An expression was stopped because its result is no longer wanted.",
    next: "Nothing if the run was stopped on purpose; else `daruma resume RUN`.",
    asked: "Nothing if the run was stopped on purpose; else control_run with action resume.",
  },
  SANDBOX_FAILED: {
    means: "The sandbox for expressions could not start, or crashed.",
    next: "See the message; check that the installation is complete.",
  },
  // Workspaces
  ...WORKSPACE_ERRORS,
  // Store, leases, commands
  ...OPERATOR_ERRORS,
  // The server
  ...SERVER_ERRORS,
  // The program
  USAGE: {
    means: "The command line is wrong.",
    next: "See `daruma --help`.",
    asked: "Correct what the message names.",
  },
  INTERNAL: {
    means: "Something happened that Daruma did not expect: a defect of Daruma.",
    next: "Try again with --debug and report what it prints.",
    asked: "Report it, with the reference: the server's log has more beside it.",
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
  /** The same for somebody who asks over REST or MCP. */
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
  }
}
