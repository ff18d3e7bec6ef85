import type { CatalogueEntry } from "./catalogue-entry.js";

/** The part of the catalogue in `errors.ts` that is about workflow files and the inputs of a run. */
export const WORKFLOW_FILE_ERRORS = {
  FILE_NOT_FOUND: { means: "The file does not exist or cannot be read.", next: "Check the path." },
  NOT_A_FILE: {
    means: "A folder, pipe or device was named where a file is needed.",
    next: "Name a file; write what a pipe gives to one first.",
  },
  YAML_SYNTAX: { means: "The file is not valid YAML or JSON.", next: "Fix the syntax at the given place." },
  UNKNOWN_KEY: {
    means: "The file has a key that Daruma does not know.",
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
    means: "A step is named that the file does not define.",
    next: "Fix the name or define the step.",
  },
  UNKNOWN_NAME: {
    means: "An expression, template or condition reads a name that does not exist.",
    next: "Fix the name; docs/workflow-file.md, section Variables, has them all.",
  },
  UNKNOWN_HANDLER: {
    means: "A failure handler is named that the file does not define.",
    next: "Fix the name or define it under `failure_handlers`.",
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
    next: "Give at least one step without depends_on that nothing routes to, or `start: auto`.",
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
    means: "A key stands where it changes nothing (a warning).",
    next: "Remove it, or what overrules it.",
  },
  RETRY_OF_DETERMINISTIC: {
    means: "retry.on names a code whose class is never retried; the code wins (a warning).",
    next: "Remove it unless a retry can really help.",
  },
  SECRET_IN_ENV: {
    means: "A name of `secrets` is also set in `env`, where its value stands in the file (a warning).",
    next: "Take it from the environment of the worker.",
  },
  OUTPUT_MAY_BE_MISSING: {
    means: "A step reads the output of another one that need not have run before it (a warning).",
    next: "Depend on that step, or ask whether its output is there.",
  },
  UNQUOTED_IN_SHELL: {
    means: "A template in a shell line is not quoted, or quoted twice (a warning).",
    next: "Write `{{ ... | sh }}`, without quotes around it.",
  },
  UNREACHABLE_STEP: {
    means: "Nothing can ever run the step (a warning).",
    next: "Name it in a run list, depend on nothing, or set `start: auto`.",
  },
  UNREACHABLE_RUNG: {
    means: "A goto without a bound goes back at every failure, so a later rung is never reached (a warning).",
    next: "Bound it: `goto: { step: X, max: 1 }`.",
  },
  INVALID_INPUT: {
    means: "An input of a run, or a field of a request, is missing, unknown or of the wrong type.",
    next: "Give what the message names; an input of a run is --input name=value.",
    asked: "Give what the message names.",
  },
} as const satisfies Record<string, CatalogueEntry>;
