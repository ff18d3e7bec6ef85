import {
  DEFAULT_MAX_ITEMS,
  DEFAULT_MAX_LOOPS,
  DEFAULT_MAX_RECOVERIES,
  type InputDefinition,
} from "../../core/model/definition.js";
import { oursFor } from "../../core/text/foreign-words.js";
import type { Json } from "../../core/text/json.js";
import { MAX_DURATION_MS } from "../read/amounts.js";
import type { Path } from "../read/path.js";
import {
  type Fields,
  listOf,
  located,
  mapOf,
  mapped,
  named,
  object,
  type Schema,
  union,
  type Written,
} from "../read/schema.js";
import { boolean, duration, json, number, oneOf, text } from "../read/schema-scalars.js";
import { findEntry, type SourceNode } from "../read/source-tree.js";
import { breakers } from "./breaker-fields.js";
import { failureHandlers } from "./failure-handler-fields.js";
import { files } from "./file-fields.js";
import { hold } from "./hold-fields.js";
import { jobs } from "./job-fields.js";
import { PARAMETER_NAME, parameters } from "./job-parameters.js";
import { resourceMonitor } from "./monitor-fields.js";
import { notify } from "./notify-fields.js";
import { memory, resourceList } from "./resource-fields.js";
import { MAX_COUNT } from "./retry-fields.js";
import { schedulerDefaults, schedulers } from "./scheduler-fields.js";
import { queue, selfHeal, workspace } from "./self-heal-fields.js";
import { shellOfFile } from "./shell-field.js";
import { concurrency, labels, priority } from "./start/run-fields.js";
import { schedules } from "./start/schedule-fields.js";
import { triggers } from "./start/webhook-fields.js";
import { steps } from "./step-entries.js";
import { environment, MAX_DESCRIPTION_CHARS, onFailDefaults, stepNames } from "./step-fields.js";
import { transitions } from "./transition-fields.js";
import { actions } from "./trigger-fields.js";
import { userData } from "./user-data-fields.js";

export const INPUT_TYPES = [
  "string",
  "number",
  "boolean",
  "object",
  "array",
  "any",
] as const satisfies readonly InputDefinition["type"][];
const MAX_NAME_CHARS = 200;
export const WORKFLOW_NAME = { maxChars: MAX_NAME_CHARS, pattern: /^[^\p{Cc}]*$/u };

export function typeOfJson(value: Json): InputDefinition["type"] {
  if (value === null) return "any";
  if (Array.isArray(value)) return "array";
  return typeof value as "string" | "number" | "boolean" | "object";
}

/** Whether it is one of these. */
export function hasValue(values: readonly Json[], value: Json): boolean {
  const wanted = JSON.stringify(value);
  return values.some((each) => JSON.stringify(each) === wanted);
}

const inputType = oneOf(INPUT_TYPES);
const inputByType = mapped(
  inputType,
  (type): InputDefinition => ({
    type,
    required: true,
    default: null,
    description: null,
  }),
);
const inputMap = object({
  type: { schema: inputType, doc: "The type of the value; by default the type of `default`." },
  default: { schema: located(json()), doc: "The value if none is given." },
  required: {
    schema: located(boolean()),
    doc: "Whether a value must be given; true unless there is a default.",
  },
  description: { schema: text({ mayBeEmpty: true }), doc: "What the input is for." },
  enum: {
    schema: located(listOf(json(), { items: "values", notEmpty: true })),
    doc: "The values that it may have; by default any of its type.",
  },
});

const inputByMap: Schema<InputDefinition, Written<typeof inputMap>> = {
  expected: "a map with `type`, `default`, `required`, `description`, `enum`",
  fits: inputMap.fits,
  read(node, path, context) {
    const given = inputMap.read(node, path, context);
    if (given === undefined) return undefined;
    const fallback = given.default;
    const report = (message: string, hint: string, place: { at: number; path: Path | null }) =>
      context.findings.error({ code: "INVALID_VALUE", message, hint, at: place.at, path: place.path });
    const type = given.type ?? (fallback === undefined ? "any" : typeOfJson(fallback.value));
    if (
      fallback !== undefined &&
      type !== "any" &&
      fallback.value !== null &&
      typeOfJson(fallback.value) !== type
    ) {
      report(`the default is not a ${type}`, `Give a default of type ${type}.`, fallback);
    }
    if (fallback !== undefined && given.required?.value === true) {
      report(
        "`required: true` and `default` contradict each other",
        "Remove one of the two.",
        given.required,
      );
    }
    const allowed = given.enum?.value;
    for (const value of allowed ?? [])
      if (type !== "any" && typeOfJson(value) !== type)
        report(`\`enum\` has a value that is not a ${type}`, `Give values of type ${type}.`, given.enum!);
    if (allowed !== undefined && fallback !== undefined && !hasValue(allowed, fallback.value))
      report("the default is not one of the values of `enum`", "Give one of them.", fallback);
    const required = given.required?.value ?? fallback === undefined;
    return {
      ...{ type, required, default: fallback?.value ?? null, description: given.description ?? null },
      ...(allowed === undefined ? {} : { enum: allowed }),
    };
  },
  json: inputMap.json,
};

const variableName = text({
  expected: "a variable's name",
  pattern: /^[A-Za-z_][A-Za-z0-9_]*$/,
  rule: "Give the name of an environment variable, not its value.",
  maxChars: MAX_NAME_CHARS,
});

const contextName = text({
  expected: "a name",
  pattern: /^[A-Za-z_$][A-Za-z0-9_$]*$/,
  rule: "Give the name of a key at the top of the context.",
  maxChars: MAX_NAME_CHARS,
});

const MAX_SECONDS = MAX_DURATION_MS / 1_000;
const seconds = number({ min: 0, max: MAX_SECONDS, whole: false });

export const WORKFLOW_FIELDS = {
  version: { schema: text({ asWritten: true, maxChars: 50 }), doc: "The version of the file's format." },
  name: {
    schema: text({
      asWritten: true,
      ...WORKFLOW_NAME,
      rule: "Give a name on one line.",
    }),
    doc: "The workflow's name; by default the file's name without its extension.",
  },
  description: {
    schema: text({ mayBeEmpty: true, maxChars: MAX_DESCRIPTION_CHARS }),
    doc: "What the workflow is for; shown with its runs.",
  },
  user: {
    schema: text({ asWritten: true, maxChars: MAX_NAME_CHARS }),
    doc: "Whose workflow it is; shown with its runs. It gives nobody any rights.",
  },
  labels: {
    schema: labels,
    doc: "What to find its runs by, such as `team: payments`; --label adds more.",
  },
  inputs: {
    schema: mapOf(named("input", union(inputByType, inputByMap)), {
      keyPattern: /^[A-Za-z_][A-Za-z0-9_-]*$/,
      keyRule: "An input's name has letters, digits, `_` and `-`, and begins with a letter or `_`.",
    }),
    doc: "Values that are passed to a run.",
  },
  env: { schema: environment, doc: "Environment variables of every step." },
  shell: shellOfFile,
  secrets: {
    schema: listOf(variableName, { items: "variables' names" }),
    doc: "Environment variables whose values are redacted everywhere.",
  },
  context: {
    schema: listOf(contextName, { items: "names" }),
    doc: "Names that --context gives to expressions and templates, besides `pr` and `files`.",
  },
  routing: {
    schema: object({
      max_loops: {
        schema: number({ min: 0, max: MAX_COUNT, whole: true }),
        doc: "Routing transitions that a scope may take.",
        default: DEFAULT_MAX_LOOPS,
      },
      defaults: {
        schema: object({
          on_fail: {
            schema: onFailDefaults,
            doc: "Keys for the `on_fail` of every step that does not give them itself; `retry` is merged key by key.",
          },
        }),
        doc: "Defaults for every step.",
      },
    }),
    doc: "Rules for retry, remediation and goto.",
  },
  failure_policy: {
    schema: oneOf(["finish_independent", "fail_fast"]),
    doc: "Whether steps that do not depend on a failed step continue.",
    default: "finish_independent",
  },
  max_recoveries: {
    schema: number({ min: 0, max: MAX_COUNT, whole: true }),
    doc: "Restarts after a lost worker, per visit.",
    default: DEFAULT_MAX_RECOVERIES,
  },
  max_items: {
    schema: number({ min: 0, max: MAX_COUNT, whole: true }),
    doc: "How many items the forEach steps of a run may have in total.",
    default: DEFAULT_MAX_ITEMS,
  },
  max_log: {
    schema: memory,
    doc: "How much an attempt may print, such as 200m; the rest is dropped.",
    default: "1g",
  },
  unhandled: {
    schema: oneOf(["fail", "hold"]),
    doc: "What happens to a failure that nothing handles: the step fails, or waits for a decision. The default is `hold` if `jobs` is used.",
    default: "fail",
  },
  hold: {
    schema: hold,
    doc: "How long a hold waits for a decision, and what is done then; by default it waits until somebody decides.",
  },
  deadline: {
    schema: located(duration({ min: 1 })),
    doc: "A run that takes longer is canceled (`DEADLINE`); the time it is paused or held does not count.",
  },
  warn_after: {
    schema: located(duration({ min: 1 })),
    doc: "A run that takes longer says so and goes on; the time it is paused or held does not count.",
  },
  schedule: {
    schema: schedules,
    doc: "When a server starts it by itself, once it is published; one schedule, or a list of them.",
  },
  notify: {
    schema: notify,
    doc: "Who is told when a run needs somebody: a list of what to tell `on`, and `to` which channels of the settings.",
  },
  concurrency: {
    schema: concurrency,
    doc: "How many runs of a group are under way at a time; the others wait, are refused, or replace those before them.",
  },
  priority: {
    schema: priority,
    doc: "Runs with a higher one get places and workers first; of equal ones the oldest.",
    default: 0,
  },
  finally: {
    schema: stepNames,
    doc: "Steps that run when a run ends, in this order, however it ended.",
  },
  triggers: { schema: triggers, doc: "What else starts it, once it is published." },
  failure_handlers: { schema: failureHandlers, doc: "Rules that handle exit codes; steps name a handler." },
  breakers: {
    schema: breakers,
    doc: "Breakers of this workflow; a step names those that it `uses`.",
  },
  resource_requirements: {
    schema: resourceList,
    doc: "Resource requirements that jobs and steps refer to by name.",
  },
  workspace: {
    schema: workspace,
    doc: "Each run works in its own git worktree: checkpoints, diff hashes, hard resets.",
  },
  self_heal: {
    schema: selfHeal,
    doc: "Timeouts, attempts and resets for steps that get stuck; `true` for the defaults.",
  },
  queue: {
    schema: queue,
    doc: "Failures that nothing else has handled are tried again later, from the checkpoints.",
  },
  transitions: { schema: transitions, doc: "Edges from the end of one step to another step." },
  steps: { schema: steps, doc: "The steps by id.", aliases: ["checks"] },
  jobs: {
    schema: jobs,
    doc: "The batch form: a list of commands, each for many parameters, instead of `steps`.",
  },
  parameters: {
    schema: parameters,
    doc: "Parameters of the batch form that jobs take over by `use_parameters`.",
  },
  variables: {
    schema: mapOf(text({ mayBeEmpty: true }), {
      keyPattern: PARAMETER_NAME,
      keyRule: "A variable's name has letters, digits and `_`, and does not begin with a digit.",
    }),
    doc: "Texts of the batch form that stand for `{name}` wherever it is written.",
  },
  cwd: {
    schema: oneOf(["workflow_file"]),
    doc: "`workflow_file`: commands and relative paths of the batch form start at the file's folder. By default they start where `daruma run` was typed.",
  },
  files: { schema: files, doc: "Files of the batch form, which jobs name as inputs and outputs." },
  user_data: {
    schema: userData,
    doc: "Values of the batch form, which jobs read and write by name.",
  },
  jobs_sort_method: {
    schema: oneOf(["gpus_runtime_memory", "gpus_memory_runtime", "none"]),
    doc: "Which ready jobs start first: those that ask for the most GPUs, then the most time and memory, or memory and time. `none`: in the order in which they become ready.",
    default: "none",
  },
  resource_monitor: {
    schema: resourceMonitor,
    doc: "Samples what the processes of attempts use, over time.",
  },
  use_pending_failed: {
    schema: located(boolean()),
    doc: "The batch form's way to write `unhandled`: true is `hold`, false is `fail`.",
  },
  actions: {
    schema: actions,
    doc: "Commands of the batch form that run at the start, at the end, or around some jobs, and nodes that jobs need.",
  },
  slurm_schedulers: {
    schema: schedulers,
    doc: "What jobs of the batch form ask of Slurm, within what the settings of a cluster allow.",
  },
  slurm_defaults: {
    schema: schedulerDefaults,
    doc: "Options of sbatch for all `slurm_schedulers`, within what the settings of a cluster allow.",
  },
  compute_node_expiration_buffer_seconds: {
    schema: located(seconds),
    doc: "How long before its end an allocation takes no new jobs, if that is longer than the cluster's `drain`.",
  },
  compute_node_wait_for_new_jobs_seconds: {
    schema: located(seconds),
    doc: "How long an allocation without jobs stays, at most as long as the cluster's settings allow.",
  },
  compute_node_ignore_workflow_completion: {
    schema: located(boolean()),
    doc: "`true`: an allocation without jobs stays as long as the cluster's settings allow.",
  },
  compute_node_wait_for_healthy_database_minutes: {
    schema: number({ min: 0, max: MAX_COUNT, whole: false }),
    doc: "How long workers try to reach a server that does not answer. They always try until their allocation ends.",
  },
} as const satisfies Fields;

/** Keys that only a file with `jobs` may have. */
export const BATCH_KEYS: readonly string[] = [
  "parameters",
  "variables",
  "cwd",
  "files",
  "user_data",
  "use_pending_failed",
  "actions",
  "slurm_schedulers",
  "slurm_defaults",
  "compute_node_expiration_buffer_seconds",
  "compute_node_wait_for_new_jobs_seconds",
  "compute_node_ignore_workflow_completion",
  "compute_node_wait_for_healthy_database_minutes",
];

/** What Torc keeps about a workflow besides: a file of its form says it with a warning, a file with `steps` has no such keys. */
const UNREAD_OF_BATCH = ["project", "metadata", "enable_ro_crate"].map((key): [string, string] => [
  key,
  oursFor("key", key) ?? "",
]);

export const isBatchForm = (file: SourceNode): boolean =>
  file.kind === "map" && findEntry(file, "jobs") !== undefined;

export const workflow = object(WORKFLOW_FIELDS, {
  unread: { why: new Map(UNREAD_OF_BATCH), within: isBatchForm },
  misplaced: (key) => oursFor("key", key),
});
