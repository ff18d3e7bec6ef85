import { childPath } from "../read/path.js";
import { type Fields, listOf, located, locatedText, type ReadContext } from "../read/schema.js";
import { boolean, number, oneOf, text } from "../read/schema-scalars.js";
import { findEntry } from "../read/source-tree.js";
import { quote } from "../read/suggest.js";
import { type Draft, draftOf } from "./draft.js";
import { namesOfBatch, regularExpressions } from "./file-fields.js";

const MAX_COUNT = 1_000_000;
const MAX_NAME_CHARS = 200;

const TRIGGERS = ["on_workflow_start", "on_workflow_complete", "on_jobs_ready", "on_jobs_complete"] as const;
export type Trigger = (typeof TRIGGERS)[number];
/** A worker of Daruma serves many runs at once: there is no moment at which it starts for one of them. */
const WORKER_TRIGGERS = ["on_worker_start", "on_worker_complete"] as const;

const ACTION_FIELDS = {
  trigger_type: {
    schema: located(oneOf([...TRIGGERS, ...WORKER_TRIGGERS])),
    doc: "When it happens. Triggers of jobs are for all jobs that `jobs` and `job_name_regexes` name together.",
    required: true,
  },
  action_type: {
    schema: oneOf(["run_commands", "schedule_nodes"]),
    doc: "What happens: commands run, or nodes are asked for.",
    required: true,
  },
  jobs: { schema: namesOfBatch, doc: "Names of jobs, or of families of jobs by their patterns." },
  job_name_regexes: {
    schema: regularExpressions,
    doc: "Regular expressions; every job whose name one of them is found in.",
  },
  commands: {
    schema: listOf(locatedText(text({ expected: "a shell command" })), {
      items: "shell commands",
      notEmpty: true,
    }),
    doc: "Command lines for the shell, one after the other; the first that fails ends them.",
  },
  scheduler: {
    schema: located(text({ asWritten: true, maxChars: MAX_NAME_CHARS })),
    doc: "The name of an entry of `slurm_schedulers`.",
  },
  scheduler_type: { schema: oneOf(["slurm", "local"]), doc: "The kind of scheduler." },
  num_allocations: {
    schema: number({ min: 1, max: MAX_COUNT, whole: true }),
    doc: "With `nodes` of the scheduler: the most nodes at a time.",
    default: 1,
  },
  start_one_worker_per_node: {
    schema: boolean(),
    doc: "Daruma starts one worker on each node of jobs that need one node.",
  },
  max_parallel_jobs: {
    schema: number({ min: 1, max: MAX_COUNT, whole: true }),
    doc: "How many jobs of the scheduler run at a time in one allocation.",
  },
  persistent: {
    schema: boolean(),
    doc: "Whether every worker does it. An action belongs to the run here, so it is done once either way.",
  },
} as const satisfies Fields;

/** An action of the batch form as its file gives it. */
export type ActionDraft = Draft<typeof ACTION_FIELDS>;

const action = draftOf("action", ACTION_FIELDS, (draft, context) => {
  checkTrigger(draft, context);
  checkKeys(draft, context);
});

export const actions = listOf(action, { items: "actions" });

const OF_COMMANDS: readonly string[] = ["commands"];
const OF_NODES: readonly string[] = [
  "scheduler",
  "scheduler_type",
  "num_allocations",
  "start_one_worker_per_node",
  "max_parallel_jobs",
];
const OF_JOBS: readonly string[] = ["jobs", "job_name_regexes"];

function isJobTrigger({ keys: { trigger_type: trigger } }: ActionDraft): boolean {
  return trigger?.value === "on_jobs_ready" || trigger?.value === "on_jobs_complete";
}

function checkTrigger({ keys, node, path }: ActionDraft, { findings }: ReadContext): void {
  const { trigger_type: trigger, action_type: type } = keys;
  if (trigger === undefined) return;
  if (WORKER_TRIGGERS.some((each) => each === trigger.value)) {
    const message = `${quote(trigger.value)} is not supported: a worker serves many runs, so it does not start or end with one`;
    const hint =
      "Put what every node needs into `setup` of the cluster in daruma.config.yaml, or before the job's command with `invocation_script`.";
    findings.error({ code: "INVALID_VALUE", message, hint, at: trigger.at, path: trigger.path });
  } else if (
    isJobTrigger({ keys, node, path }) &&
    keys.jobs === undefined &&
    keys.job_name_regexes === undefined
  ) {
    const message = `${quote(trigger.value)} needs the jobs that it is about`;
    const hint = "Add `jobs` or `job_name_regexes`.";
    findings.error({ code: "MISSING_KEY", message, hint, at: node.at, path });
  } else if (trigger.value === "on_workflow_complete" && type === "schedule_nodes") {
    const message = "nodes that are asked for when the workflow is complete would have nothing to do";
    const hint = "Use `on_workflow_start` or `on_jobs_ready`, or remove the action.";
    findings.error({ code: "INVALID_VALUE", message, hint, at: trigger.at, path: trigger.path });
  }
}

/** Every key has its place, or the file means something that would not happen. */
function checkKeys(draft: ActionDraft, context: ReadContext): void {
  const { action_type: type, commands, scheduler, scheduler_type: kind, trigger_type: trigger } = draft.keys;
  if (type === "run_commands") {
    refuseKeys(OF_NODES, "`schedule_nodes`", draft, context);
    if (findEntry(draft.node, "commands") === undefined) reportMissing("commands", draft, context);
  }
  if (type === "schedule_nodes") {
    refuseKeys(OF_COMMANDS, "`run_commands`", draft, context);
    if (scheduler === undefined && commands === undefined && kind !== "local")
      if (findEntry(draft.node, "scheduler") === undefined) reportMissing("scheduler", draft, context);
  }
  // Nodes that are asked for at the start may be for some jobs only.
  if (type === "run_commands" && trigger !== undefined && !isJobTrigger(draft))
    refuseKeys(OF_JOBS, "`on_jobs_ready` and `on_jobs_complete`", draft, context);
}

function refuseKeys(
  keys: readonly string[],
  owner: string,
  { node, path }: ActionDraft,
  { findings }: ReadContext,
): void {
  for (const key of keys) {
    const entry = findEntry(node, key);
    if (entry === undefined) continue;
    const message = `${quote(key)} is a key of ${owner} and would have no effect here`;
    const place = { at: entry.keyAt, path: childPath(path, key) };
    findings.error({ code: "INVALID_VALUE", message, hint: "Remove it.", ...place });
  }
}

function reportMissing(key: string, { keys, node, path }: ActionDraft, { findings }: ReadContext): void {
  const message = `the key ${quote(key)} is missing`;
  const hint = `Add \`${key}\`: an action of type \`${keys.action_type}\` needs it.`;
  findings.error({ code: "MISSING_KEY", message, hint, at: node.at, path });
}
