import { describe, expect, it } from "vitest";
import { REAL_CHECKS } from "../../../test/support/workflow-text.js";
import type { LoadResult } from "../load.js";
import { loadDefinition } from "../load.js";

/**
 * The published keys of the form that people on clusters come with. Each is honoured, so that the definition is another one
 * with it, or refused with a reason; none is ignored. A row is a text with the key, and one with a value that is wrong.
 */
interface Row {
  readonly good: string;
  readonly bad: string;
  /** The same as `good` without the key; if missing, nothing but what every text has. */
  readonly than?: string;
  /** What the key changes does not show in the definition: why, in words. */
  readonly without?: string;
}
type Table = { readonly [key: string]: Row };

const PUBLISHED = {
  workflow: `name user description parameters jobs files user_data resource_requirements failure_handlers slurm_schedulers
    slurm_defaults resource_monitor actions use_pending_failed compute_node_expiration_buffer_seconds
    compute_node_wait_for_new_jobs_seconds compute_node_ignore_workflow_completion
    compute_node_wait_for_healthy_database_minutes jobs_sort_method`,
  job: `name command invocation_script resource_requirements failure_handler scheduler cancel_on_blocking_job_failure
    supports_termination depends_on depends_on_regexes input_files input_file_regexes output_files output_file_regexes
    input_user_data input_user_data_regexes output_user_data output_user_data_regexes parameters parameter_mode use_parameters`,
  file: "name path parameters parameter_mode use_parameters",
  value: "name data is_ephemeral",
  action: `trigger_type action_type jobs job_name_regexes commands scheduler scheduler_type num_allocations
    start_one_worker_per_node max_parallel_jobs persistent`,
  scheduler: "name account partition nodes walltime mem gres qos ntasks_per_node tmp extra",
};

const WORKFLOW: Table = {
  name: { good: "name: other", bad: 'name: "two\\nlines"' },
  user: { good: "user: ana", bad: "user: [ana]" },
  description: { good: "description: why", bad: "description: { a: b }" },
  parameters: {
    good: "parameters: { i: '1:2' }",
    bad: "parameters: 3",
    without: "it shows in the jobs that ask for it with `use_parameters`",
  },
  jobs: { good: "jobs: [{ name: other, command: x }]", bad: "jobs: { a: x }" },
  files: {
    good: "files: [{ name: f, path: p }]",
    bad: "files: [{ name: f }]",
    without: "it shows in the jobs that name the file",
  },
  user_data: { good: "user_data: [{ name: d, data: 1 }]", bad: "user_data: 3" },
  resource_requirements: {
    good: "resource_requirements: [{ name: small, num_cpus: 2 }]",
    bad: "resource_requirements: [{ name: small, num_cpus: none }]",
    without: "it shows in the jobs that name it",
  },
  failure_handlers: {
    good: "failure_handlers: [{ name: h, rules: [{ exit_codes: [1] }] }]",
    bad: "failure_handlers: [{ name: h }]",
  },
  slurm_schedulers: {
    good: "slurm_schedulers: [{ name: s, account: a }]",
    bad: "slurm_schedulers: [{ account: a }]",
  },
  slurm_defaults: { good: "slurm_defaults: { constraint: cpu }", bad: "slurm_defaults: { partition: main }" },
  resource_monitor: {
    good: "resource_monitor: { enabled: true, granularity: time_series }",
    bad: "resource_monitor: 3",
  },
  actions: {
    good: "actions: [{ trigger_type: on_workflow_start, action_type: run_commands, commands: [x] }]",
    bad: "actions: [{ trigger_type: on_workflow_start, action_type: run_commands }]",
  },
  use_pending_failed: { good: "use_pending_failed: false", bad: "use_pending_failed: 1" },
  compute_node_expiration_buffer_seconds: {
    good: "slurm_schedulers: [{ name: s }]\ncompute_node_expiration_buffer_seconds: 60",
    bad: "compute_node_expiration_buffer_seconds: -1",
    than: "slurm_schedulers: [{ name: s }]",
  },
  compute_node_wait_for_new_jobs_seconds: {
    good: "slurm_schedulers: [{ name: s }]\ncompute_node_wait_for_new_jobs_seconds: 60",
    bad: "compute_node_wait_for_new_jobs_seconds: soon",
    than: "slurm_schedulers: [{ name: s }]",
  },
  compute_node_ignore_workflow_completion: {
    good: "slurm_schedulers: [{ name: s }]\ncompute_node_ignore_workflow_completion: true",
    bad: "compute_node_ignore_workflow_completion: 1",
    than: "slurm_schedulers: [{ name: s }]",
  },
  compute_node_wait_for_healthy_database_minutes: {
    good: "compute_node_wait_for_healthy_database_minutes: 10",
    bad: "compute_node_wait_for_healthy_database_minutes: long",
    without: "a worker tries to reach its server for as long as it lives",
  },
  jobs_sort_method: { good: "jobs_sort_method: gpus_runtime_memory", bad: "jobs_sort_method: 3" },
};

const JOB: Table = {
  name: { good: "name: other, command: x", bad: "name: [a], command: x" },
  command: { good: "command: other", bad: "command: 3" },
  invocation_script: { good: "invocation_script: env.sh", bad: "invocation_script: 3" },
  resource_requirements: {
    good: "resource_requirements: { num_cpus: 2 }",
    bad: "resource_requirements: none",
  },
  failure_handler: { good: "failure_handler: h", bad: "failure_handler: none" },
  scheduler: { good: "scheduler: second", bad: "scheduler: thrid" },
  cancel_on_blocking_job_failure: {
    good: "depends_on: [b], cancel_on_blocking_job_failure: false",
    bad: "cancel_on_blocking_job_failure: maybe",
  },
  supports_termination: { good: "supports_termination: false", bad: "supports_termination: maybe" },
  depends_on: { good: "depends_on: [b]", bad: "depends_on: [c]" },
  depends_on_regexes: { good: 'depends_on_regexes: ["^b$"]', bad: 'depends_on_regexes: ["("]' },
  input_files: { good: "input_files: [f]", bad: "input_files: [g]" },
  input_file_regexes: { good: "input_file_regexes: [f]", bad: 'input_file_regexes: ["("]' },
  output_files: { good: "output_files: [f]", bad: "output_files: [g]" },
  output_file_regexes: { good: "output_file_regexes: [f]", bad: 'output_file_regexes: ["("]' },
  input_user_data: { good: "input_user_data: [d]", bad: "input_user_data: 3" },
  input_user_data_regexes: { good: "input_user_data_regexes: [d]", bad: "input_user_data_regexes: 3" },
  output_user_data: { good: "output_user_data: [d]", bad: "output_user_data: 3" },
  output_user_data_regexes: { good: "output_user_data_regexes: [d]", bad: "output_user_data_regexes: 3" },
  parameters: { good: 'name: "a_{i}", parameters: { i: "1:2" }', bad: "parameters: 3" },
  parameter_mode: {
    good: 'name: "a_{i}_{j}", parameters: { i: "1:2", j: "1:2" }, parameter_mode: zip',
    bad: "parameter_mode: both",
  },
  use_parameters: { good: 'name: "a_{k}", use_parameters: [k]', bad: "use_parameters: [l]" },
};

const FILE: Table = {
  name: { good: "name: g, path: p", bad: "name: [g], path: p" },
  path: { good: "name: f, path: other", bad: "name: f, path: [p]" },
  parameters: {
    good: 'name: "f{i}", path: "p{i}", parameters: { i: "1:2" }',
    bad: "name: f, path: p, parameters: 3",
  },
  parameter_mode: {
    good: 'name: "f{i}{j}", path: "p{i}{j}", parameters: { i: "1:2", j: "1:2" }, parameter_mode: zip',
    bad: "name: f, path: p, parameter_mode: both",
  },
  use_parameters: {
    good: 'name: "f{k}", path: "p{k}", use_parameters: [k]',
    bad: "name: f, path: p, use_parameters: [l]",
  },
};

const VALUE: Table = {
  name: { good: "name: e, data: 1", bad: "data: 1" },
  data: { good: "name: d, data: 2", bad: "name: d, data: { a: }, data: 3" },
  is_ephemeral: { good: "name: d, data: 1, is_ephemeral: true", bad: "name: d, data: 1, is_ephemeral: 1" },
};

const RUN = "action_type: run_commands, commands: [x]";
const NODES = "action_type: schedule_nodes, scheduler: s";
const ACTION: Table = {
  trigger_type: {
    good: `trigger_type: on_workflow_start, ${RUN}`,
    bad: `trigger_type: on_worker_start, ${RUN}`,
  },
  action_type: {
    good: `trigger_type: on_workflow_start, ${RUN}`,
    bad: "trigger_type: on_workflow_start, action_type: dance",
  },
  jobs: {
    good: `trigger_type: on_jobs_complete, jobs: [b], ${RUN}`,
    bad: `trigger_type: on_jobs_complete, jobs: [c], ${RUN}`,
  },
  job_name_regexes: {
    good: `trigger_type: on_jobs_ready, job_name_regexes: ["^b"], ${RUN}`,
    bad: `trigger_type: on_jobs_ready, ${RUN}`,
  },
  commands: {
    good: "trigger_type: on_workflow_complete, action_type: run_commands, commands: [y, z]",
    bad: "trigger_type: on_workflow_complete, action_type: run_commands, commands: []",
  },
  scheduler: {
    good: `trigger_type: on_workflow_start, ${NODES}`,
    bad: "trigger_type: on_workflow_start, action_type: schedule_nodes, scheduler: t",
  },
  scheduler_type: {
    good: `trigger_type: on_workflow_start, ${NODES}, scheduler_type: slurm`,
    bad: `trigger_type: on_workflow_start, ${NODES}, scheduler_type: pbs`,
    than: `trigger_type: on_workflow_start, ${NODES}`,
    without: "it is the only kind that nodes can be asked of",
  },
  num_allocations: {
    good: `trigger_type: on_workflow_start, ${NODES}, num_allocations: 3`,
    bad: `trigger_type: on_workflow_start, ${NODES}, num_allocations: 0`,
    than: `trigger_type: on_workflow_start, ${NODES}`,
  },
  start_one_worker_per_node: {
    good: `trigger_type: on_workflow_start, ${NODES}, start_one_worker_per_node: true`,
    bad: `trigger_type: on_workflow_start, ${RUN}, start_one_worker_per_node: true`,
    than: `trigger_type: on_workflow_start, ${NODES}`,
    without: "every node has a worker of its own",
  },
  max_parallel_jobs: {
    good: `trigger_type: on_workflow_start, ${NODES}, max_parallel_jobs: 2`,
    bad: `trigger_type: on_workflow_start, ${NODES}, max_parallel_jobs: none`,
    than: `trigger_type: on_workflow_start, ${NODES}`,
  },
  persistent: {
    good: `trigger_type: on_workflow_start, ${RUN}, persistent: true`,
    bad: `trigger_type: on_workflow_start, ${RUN}, persistent: 3`,
    than: `trigger_type: on_workflow_start, ${RUN}`,
    without: "an action belongs to the run, not to its workers",
  },
};

const SCHEDULER: Table = {
  name: { good: "name: s2", bad: "account: a" },
  account: { good: "name: s, account: a", bad: "name: s, account: --wrap=id" },
  partition: { good: "name: s, partition: main", bad: 'name: s, partition: "a b"' },
  nodes: {
    good: "name: s, nodes: 2",
    bad: "name: s, nodes: 0",
    without: "it shows with the actions that ask for nodes",
  },
  walltime: { good: 'name: s, walltime: "04:00:00"', bad: "name: s, walltime: long" },
  mem: { good: "name: s, mem: 64G", bad: "name: s, mem: much" },
  gres: { good: 'name: s, gres: "gpu:2"', bad: 'name: s, gres: "lustre:1"' },
  qos: { good: "name: s, qos: high", bad: "name: s, qos: [high]" },
  ntasks_per_node: { good: "name: s, ntasks_per_node: 4", bad: "name: s, ntasks_per_node: -4" },
  tmp: { good: "name: s, tmp: 10G", bad: "name: s, tmp: [10G]" },
  extra: { good: 'name: s, extra: "--exclusive"', bad: "name: s, extra: exclusive" },
};

const BARE = "jobs: [{ name: b, command: x }]\n";
const inWorkflow = (line: string) => (line.startsWith("jobs:") ? "" : BARE) + line;
const inJob = (line: string) => `parameters: { k: "1:2" }
files: [{ name: f, path: p }]
failure_handlers: [{ name: h, rules: [{ exit_codes: [1] }] }]
slurm_schedulers: [{ name: first }, { name: second }]
user_data: [{ name: d, data: 1 }]
jobs:
  - { ${[/\bname:/.test(line) ? [] : "name: a", /\bcommand:/.test(line) ? [] : "command: x", line].flat().filter(Boolean).join(", ")} }
  - { name: b, command: x }
`;
const inFile = (line: string) => `parameters: { k: "1:2" }
files: [{ ${line || "name: f, path: p"} }]
jobs: [{ name: b, command: x, input_file_regexes: ["^f"] }]
`;
const inValue = (line: string) =>
  `user_data: [{ ${line || "name: d, data: 1"} }]\njobs: [{ name: b, command: x, output_user_data_regexes: [".*"] }]`;
const inAction = (line: string) =>
  `slurm_schedulers: [{ name: s }]\n${BARE}${line === "" ? "" : `actions: [{ ${line} }]`}`;
const inScheduler = (line: string) => `${BARE}slurm_schedulers: [{ ${line || "name: s"} }]`;

const load = (text: string): LoadResult => loadDefinition(text, { file: "flow.yaml", ...REAL_CHECKS });

describe.each([
  ["the workflow", PUBLISHED.workflow, WORKFLOW, inWorkflow],
  ["a job", PUBLISHED.job, JOB, inJob],
  ["a file", PUBLISHED.file, FILE, inFile],
  ["a value of user data", PUBLISHED.value, VALUE, inValue],
  ["an action", PUBLISHED.action, ACTION, inAction],
  ["a scheduler", PUBLISHED.scheduler, SCHEDULER, inScheduler],
] as const)("of the published keys of %s", (_, published, table: Table, textWith) => {
  it("each has a row here", () => {
    expect(Object.keys(table).sort()).toEqual(published.split(/\s+/).sort());
  });

  it.each(Object.entries(table))(
    "%s has an effect, or a reason to have none",
    (_key, { good, than = "", without }) => {
      const found = load(textWith(good));
      const plain = load(textWith(than));
      expect([found.ok, plain.ok]).toEqual([true, true]);
      if (!found.ok || !plain.ok) return;
      expect(JSON.stringify(found.definition) === JSON.stringify(plain.definition)).toBe(
        without !== undefined,
      );
    },
  );

  it.each(Object.entries(table))("a wrong %s is refused with a place and what to do", (_key, { bad }) => {
    const found = load(textWith(bad));
    expect(found.ok).toBe(false);
    if (found.ok) return;
    for (const { line, hint, message } of found.problems) {
      expect(line).toBeGreaterThan(0);
      expect(`${message} ${hint}`.length).toBeGreaterThan(20);
    }
  });
});
