import { BUILT_IN_ACTIONS } from "../../core/model/action-traits.js";
import type { Join } from "../../core/model/definition.js";
import { DEFAULT_KILL_GRACE_MS, DEFAULT_RUN_MAX } from "../../core/model/definition.js";
import type { FilesPolicy } from "../../core/model/files-policy.js";
import { oursFor } from "../../core/text/foreign-words.js";
import {
  type Fields,
  type Located,
  listOf,
  located,
  mapOf,
  mapped,
  named,
  object,
  type ReadContext,
  type ReadOf,
  type Schema,
  union,
} from "../read/schema.js";
import { boolean, duration, number, oneOf, scalarText, text } from "../read/schema-scalars.js";
import type { SourceNode } from "../read/source-tree.js";
import { jsonSchemaField } from "./agent-fields.js";
import { BREAKER_NAME, BREAKER_RULE } from "./breaker-fields.js";
import { checkTemplateText, condition, expression } from "./code-fields.js";
import { filesPolicy, stepFiles } from "./file-fields.js";
import { hold } from "./hold-fields.js";
import { resources } from "./resource-fields.js";
import { MAX_COUNT, reportConflict, retry, retryPolicy } from "./retry-fields.js";
import { ROUTE_END_DOC, routeEnd } from "./route-end.js";

const MAX_NAME_CHARS = 200;
export const MAX_DESCRIPTION_CHARS = 10_000;

/** Environment variables, whatever a value is read into. */
export function environmentOf<T, W>(
  value: Schema<T, W>,
): Schema<ReadonlyMap<string, T>, { readonly [name: string]: W }> {
  return mapOf(value, {
    keyPattern: /^(?!DARUMA_)[A-Za-z_][A-Za-z0-9_]*$/,
    keyRule:
      "A variable's name has letters, digits and `_`, and does not begin with DARUMA_, which is reserved for Daruma.",
  });
}

export const environment = named(
  "environment",
  environmentOf(scalarText({ expected: "text", mayBeEmpty: true, check: checkTemplateText })),
);

const stepName = text({ expected: "a step's id", asWritten: true, maxChars: MAX_NAME_CHARS });
const dependency = text({ expected: "a step's id", asWritten: true, maxChars: MAX_NAME_CHARS * 10 });

/** A name alone, or a list of names; each keeps its place. */
function names<W>(
  schema: Schema<string, W>,
  items: string,
): Schema<readonly Located<string>[], W | readonly W[]> {
  const one = located(schema);
  return union(
    mapped(one, (name): readonly Located<string>[] => [name]),
    listOf(one, { items }),
  );
}

export const stepNames = names(stepName, "steps' ids");

/** Steps that a run list names, and how often a visit may run them. */
export interface RunDraft {
  readonly steps: readonly Located<string>[] | undefined;
  readonly max: number | undefined;
}

const runMax = number({ min: 0, max: MAX_COUNT, whole: true });
const runList = mapped(stepNames, (steps): RunDraft => ({ steps, max: undefined }));
const repairs = union(
  runList,
  object({
    steps: { schema: stepNames, doc: "Steps to run, in this order.", required: true },
    max: { schema: runMax, doc: "The same as `run_max`." },
  }),
);

const plainNames = (items: string) =>
  mapped(names(text({ asWritten: true, maxChars: MAX_NAME_CHARS }), items), (found) =>
    found.map((name) => name.value),
  );

export interface GotoDraft {
  readonly step: Located<string> | undefined;
  readonly max: number | undefined;
  readonly files?: Located<FilesPolicy> | undefined;
}

const gotoMax = number({ min: 0, max: MAX_COUNT, whole: true });
const gotoTarget = union(
  mapped(located(stepName), (step): GotoDraft => ({ step, max: undefined })),
  object({
    step: { schema: located(stepName), doc: "An ancestor to jump back to.", required: true },
    max: { schema: gotoMax, doc: "The same as `goto_max`." },
    files: {
      schema: filesPolicy,
      doc: "In a workspace: `keep` leaves its files as they are, `restore` takes back what the target and all after it changed.",
      default: "`keep` where the target is an agent, else `restore`",
    },
  }),
);

const routingFields = {
  run: { schema: runList, doc: "Steps to run, in this order." },
  run_js: { schema: expression(), doc: "JavaScript that returns a list of further steps to run." },
  goto: { schema: gotoTarget, doc: "An ancestor to jump back to." },
  goto_js: {
    schema: expression(),
    doc: "JavaScript that returns an ancestor's id, or null; wins over `goto`.",
  },
  goto_max: {
    schema: gotoMax,
    doc: "Gotos that a job may take, by `goto` and `goto_js` together; without it, as many as `max_loops` allows.",
  },
} as const satisfies Fields;

const failureFields = {
  retry: { schema: retry, doc: "Run the step again, up to this many times." },
  ...routingFields,
  run: { schema: repairs, doc: "Steps that repair it, in this order; then it runs again." },
  run_max: {
    schema: runMax,
    doc: "Repairs in one visit, by `run` and `run_js` together.",
    default: String(DEFAULT_RUN_MAX),
  },
} as const satisfies Fields;

/** `goto: { step, max }` beside `goto_max`, `run: { steps, max }` beside `run_max`: which of the two should hold? */
export const BOUNDED_KEYS = ["goto", "run"] as const;

function withOneBound<T extends Partial<ReadOf<typeof failureFields>>, W>(
  schema: Schema<T, W>,
): Schema<T, W> {
  return {
    ...schema,
    read(node, path, context) {
      const value = schema.read(node, path, context);
      for (const key of BOUNDED_KEYS)
        if (value?.[key]?.max !== undefined && value[`${key}_max`] !== undefined && node.kind === "map")
          reportConflict(`${key}.max`, `${key}_max`, node, path, context);
      return value;
    },
    json: (definitions) => ({
      ...schema.json(definitions),
      not: {
        anyOf: BOUNDED_KEYS.map((key) => ({
          required: [key, `${key}_max`],
          properties: { [key]: { type: "object", required: ["max"] } },
        })),
      },
    }),
  };
}

const ROUTING_OPTIONS = {
  misplaced: (key: string) =>
    key === "transitions" || key === "goto_event" ? "write it as `transitions` at the top of the file" : null,
};

/** The step's transition on failure, as short as it can be. */
const edge = object({
  to: { schema: located(stepName), doc: "The step that runs then.", required: true },
  then: { schema: routeEnd, doc: ROUTE_END_DOC },
});

export const onFail = named(
  "on_fail",
  withOneBound(
    object(
      {
        ...failureFields,
        edge: {
          schema: located(edge),
          doc: "A transition on failure from this step, tried after those of the list `transitions`.",
        },
      },
      ROUTING_OPTIONS,
    ),
  ),
);

/** An edge belongs to one step: as a default it would lead every step to the same one. */
export const onFailDefaults = named(
  "on_fail_defaults",
  withOneBound(
    object(failureFields, {
      misplaced: (key) =>
        key === "edge" ? "an edge is no default: write it in the step" : ROUTING_OPTIONS.misplaced(key),
    }),
  ),
);
export const onSuccess = named("on_success", withOneBound(object(routingFields, ROUTING_OPTIONS)));

const joinWord = mapped(oneOf(["all", "any"]), (kind): Join => ({ kind }));
const joinCount = mapped(
  object({
    at_least: {
      schema: number({ min: 1, max: MAX_COUNT, whole: true }),
      doc: "Branches that must complete.",
      required: true,
    },
  }),
  (given): Join => ({ kind: "at_least", count: given.at_least ?? 1 }),
);

const execution = named(
  "execution",
  object({
    timeout_ms: { schema: duration({ min: 1 }), doc: "The same as the step's `timeout_ms`." },
    retry_policy: { schema: retryPolicy, doc: "Another way to write `on_fail.retry`." },
  }),
);

const OUTCOMES = ["completed", "settled"] as const;
const outcome = oneOf(OUTCOMES);
/** Elsewhere `needs` names steps. */
const neededOutcome: typeof outcome = {
  ...outcome,
  read(node, path, context) {
    if (!namesSteps(node, context)) return outcome.read(node, path, context);
    const message = `\`needs\` is ${outcome.expected} here: ${oursFor("key", "needs")}`;
    const hint = "Rename it to `depends_on`.";
    context.findings.error({ code: "INVALID_VALUE", message, hint, at: node.at, path });
    return undefined;
  },
};

function namesSteps(node: SourceNode, { findings }: ReadContext): boolean {
  if (node.kind !== "scalar") return node.kind === "list";
  const { value } = node;
  if (typeof value !== "string" || OUTCOMES.some((known) => known === value)) return false;
  return findings.suggester.nearest(value, OUTCOMES) === null;
}

/** The keys that every step may have, whatever its action. */
export const STEP_FIELDS = {
  type: {
    schema: located(
      text({ expected: `a type of action (${BUILT_IN_ACTIONS.join(", ")})`, maxChars: MAX_NAME_CHARS }),
    ),
    doc: "What the step does. `command` when `exec` is given.",
    aliases: ["kind"],
  },
  description: {
    schema: text({ mayBeEmpty: true, maxChars: MAX_DESCRIPTION_CHARS }),
    doc: "What the step is for; shown with its jobs.",
  },
  depends_on: {
    schema: named("depends_on", names(dependency, "steps' ids")),
    doc: "Steps that must complete first; `b|c` means either.",
  },
  needs: {
    schema: located(neededOutcome),
    doc: "`settled`: the step runs once its dependencies have ended, also if they failed, were skipped or canceled.",
    default: "completed",
  },
  start: {
    schema: oneOf(["auto", "routed"]),
    doc: "`routed`: runs only when a run list or a transition leads to it. `auto`: starts on its own.",
  },
  if: { schema: condition(), doc: "JavaScript; the step is skipped unless it is true." },
  files: {
    schema: stepFiles,
    doc: "Files that the step needs and makes; who makes a file comes before who needs it.",
  },
  fail_if: {
    schema: located(condition(["output"])),
    doc: "JavaScript over `output`; an attempt that succeeded fails if it is true.",
  },
  reuse: {
    schema: boolean(),
    doc: "`false`: the step runs in every run, also with `--reuse`.",
    default: true,
  },
  env: { schema: environment, doc: "Environment variables of this step." },
  cwd: {
    schema: text({ check: checkTemplateText }),
    doc: "Working folder; relative ones start at the workflow file's folder.",
  },
  timeout_ms: { schema: duration({ min: 1 }), doc: "An attempt that takes longer is ended." },
  idle_timeout_ms: {
    schema: duration({ min: 1 }),
    doc: "An attempt that prints nothing for this long is ended.",
  },
  kill_grace_ms: {
    schema: duration({ min: 0 }),
    doc: "Time between SIGTERM and SIGKILL.",
    default: DEFAULT_KILL_GRACE_MS,
  },
  continue_on_failure: { schema: boolean(), doc: "Dependents run even if the step fails.", default: false },
  forEach: {
    schema: boolean(),
    doc: "The output is a list; dependents run once for each item.",
    aliases: ["for_each"],
    default: false,
  },
  fanout: {
    schema: located(oneOf(["map", "reduce"])),
    doc: "`reduce`: runs once, after all branches of the innermost forEach.",
    default: "map",
  },
  join: {
    schema: located(union(joinWord, joinCount)),
    doc: "How many branches a reducer needs.",
    default: "all",
  },
  on_fail: { schema: onFail, doc: "What happens when an attempt fails." },
  on_success: { schema: onSuccess, doc: "What happens when the step completes." },
  undo: {
    schema: located(stepName),
    doc: "The step that takes this step's success back if the run ends failed or canceled.",
  },
  outputs: { schema: jsonSchemaField, doc: "JSON Schema that the output must fit." },
  tags: { schema: plainNames("tags"), doc: "Labels to find the step by." },
  runs_on: {
    schema: plainNames("tags"),
    doc: "Tags that a worker must have to run this step.",
  },
  group: { schema: text({ maxChars: MAX_NAME_CHARS }), doc: "A group's name." },
  failure_handler: {
    schema: located(
      text({ expected: "a failure handler's name", asWritten: true, maxChars: MAX_NAME_CHARS }),
    ),
    doc: "The failure handler whose rules handle this step's exit codes.",
  },
  uses: {
    schema: names(
      text({ expected: "a breaker's name", pattern: BREAKER_NAME, rule: BREAKER_RULE }),
      "breakers' names",
    ),
    doc: "Breakers of what the step cannot do without; while one is open, the step waits.",
  },
  hold: {
    schema: hold,
    doc: "How long a hold of this step waits for a decision, and what is done then; by default what the workflow's `hold` says.",
  },
  summarize: {
    schema: text({ expected: "a shell command" }),
    doc: "A shell command that reads a failed attempt's output and prints a summary of it.",
  },
  resource_requirements: {
    schema: resources,
    doc: "What the step needs from its worker, or the name of an entry of the file's list.",
  },
  workspace: {
    schema: boolean(),
    doc: "`false`: the step works outside the file's workspace, even while other steps work in it.",
    default: true,
  },
  progress: {
    schema: oneOf(["output", "files"]),
    doc: "`files`: changes of files in the workspace are a sign of life too.",
    default: "output",
  },
  execution: { schema: execution, doc: "Another way to write the timeout and the retry policy." },
} as const satisfies Fields;

const TOP_KEYS: readonly string[] = [
  "breakers",
  "failure_handlers",
  "finally",
  "notify",
  "queue",
  "self_heal",
  "transitions",
  "unhandled",
];
const TRANSITION_KEYS: readonly string[] = ["route_on", "routeOn"];

/** Why a key of the file or of a transition does not belong into a step. */
export function belongsOutside(key: string): string | null {
  if (TOP_KEYS.includes(key)) return "it belongs at the top of the file";
  return TRANSITION_KEYS.includes(key) ? "it belongs to a transition at the top of the file" : null;
}

/** The same, including keys of other programs, for steps whose own keys are all known. */
export const whyNoStepKey = (key: string) => belongsOutside(key) ?? oursFor("key", key);
