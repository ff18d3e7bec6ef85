import type { CatalogueEntry } from "./catalogue-entry.js";
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
    asked: "See explain_run of the child run named in the message.",
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
    asked: "Fix the remediation step; explain_run shows its error.",
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
    means:
      "A fresh workspace could not be built from the checkpoints, or what another attempt left could not be set aside.",
    next: "See the message; a patch that is missing or does not apply, or a file in the way, must be put right by hand.",
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
  TOO_MANY_ITEMS: {
    means: "The forEach steps of the run would have more items than max_items allows.",
    next: "Put several items into one (batches of 100, say), or raise max_items.",
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
