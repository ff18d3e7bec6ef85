import { memory } from "../fields/resource-fields.js";
import { childPath } from "../read/path.js";
import {
  type Fields,
  listOf,
  mapped,
  named,
  object,
  type ReadOf,
  type Schema,
  union,
} from "../read/schema.js";
import { boolean, duration, number, oneOf, text } from "../read/schema-scalars.js";
import { findEntry } from "../read/source-tree.js";
import {
  type Allowed,
  CLUSTER_TYPES,
  type ClusterSettings,
  type ClusterType,
  type SchedulerRules,
} from "./settings.js";

const MAX_NAME_CHARS = 200;
const MAX_COUNT = 1_000_000;
const MINUTE_MS = 60_000;
const DEFAULTS = {
  runtimeMs: 60 * MINUTE_MS,
  jobRuntimeMs: 10 * MINUTE_MS,
  jobMemoryBytes: 1024 ** 3,
  drainMs: MINUTE_MS,
  idleExitMs: MINUTE_MS,
  maxAllocations: 10,
  threshold: 1,
  cooldownMs: 30_000,
} as const;

/** Keys that only one type of scheduler has, and what to write for the other. */
const ONLY_FOR: { readonly [key: string]: { readonly type: ClusterType; readonly instead: string } } = {
  partition: { type: "slurm", instead: "Write `queue` for Grid Engine." },
  qos: { type: "slurm", instead: "Remove it, or set it with `options`." },
  schedulers: { type: "slurm", instead: "Remove it; jobs of such files run on a cluster of type slurm." },
  queue: { type: "gridengine", instead: "Write `partition` for Slurm." },
  memory_resource: { type: "gridengine", instead: "Remove it; Slurm has one of its own." },
  parallel_environment: { type: "gridengine", instead: "Remove it; Slurm needs none." },
};

/** A single word that is passed to the scheduler unchanged, as an argument. */
const word = (expected: string) =>
  text({
    expected,
    maxChars: MAX_NAME_CHARS,
    pattern: /^[A-Za-z0-9_@][A-Za-z0-9_@.:-]*$/,
    rule: "Use letters, digits and _ @ . : -, and no blanks.",
  });
const tag = text({
  expected: "a tag",
  maxChars: MAX_NAME_CHARS,
  pattern: /^[^\s,]+$/,
  rule: "Use no blanks and no commas.",
});
const option = text({
  expected: "an option of the scheduler",
  pattern: /^-[^\n\r]*$/,
  rule: "An option begins with a dash and is one line; put its value into the same text, such as --constraint=avx2.",
});
const line = text({
  expected: "a shell line",
  pattern: /^[^\n\r]+$/,
  rule: "Write one line for each entry of the list.",
});
const programWord = text({
  expected: "a program or an argument",
  pattern: /^[^\n\r]+$/,
  rule: "Use one line.",
});
const count = (min: number) => number({ min, max: MAX_COUNT, whole: true });
const url = text({
  expected: "an address such as `http://login1:7420`",
  pattern: /^https?:\/\/[^\s]+$/,
  rule: "Write an address that begins with http:// or https://.",
});

const allocationFields = {
  cpus: {
    schema: count(1),
    doc: "Most processors that one allocation asks for; by default those of a node.",
  },
  memory: { schema: memory, doc: "Most memory that one allocation asks for; by default that of a node." },
  gpus: { schema: count(0), doc: "Most GPUs that one allocation asks for; by default those of a node." },
  runtime: {
    schema: duration({ min: MINUTE_MS }),
    doc: "Time that an allocation asks for; more if a job needs more.",
    default: "1h",
  },
  job_runtime: {
    schema: duration({ min: 1_000 }),
    doc: "How long a job is assumed to take if it has no `runtime`; for planning only.",
    default: "10m",
  },
  job_memory: {
    schema: memory,
    doc: "How much memory a job is assumed to take if it has no `memory`; for planning only.",
    default: "1g",
  },
  drain: {
    schema: duration({ min: 1_000 }),
    doc: "How long before its end an allocation takes no new jobs.",
    default: "1m",
  },
  idle_exit: {
    schema: duration({ min: 1_000 }),
    doc: "How long an allocation without jobs stays.",
    default: "1m",
  },
} as const satisfies Fields;

const limitFields = {
  max_allocations: { schema: count(1), doc: "Most allocations at a time.", default: DEFAULTS.maxAllocations },
  max_cpus: { schema: count(1), doc: "Most processors of all allocations together; by default no limit." },
  threshold: {
    schema: count(1),
    doc: "Jobs that must be waiting before another allocation is made while one is alive.",
    default: DEFAULTS.threshold,
  },
  cooldown: {
    schema: duration({ min: 0 }),
    doc: "Shortest time between two rounds of submissions.",
    default: "30s",
  },
} as const satisfies Fields;

/** A list of names, or `any`. */
const allowed = (name: Schema<string, string>, items: string): Schema<Allowed, readonly string[] | "any"> =>
  union(oneOf(["any"]), listOf(name, { items }));

const optionName = text({
  expected: "the name of an option",
  maxChars: MAX_NAME_CHARS,
  pattern: /^[A-Za-z][A-Za-z0-9-]*$/,
  rule: "Write the long name without dashes, such as constraint.",
});

const schedulerFields = {
  accounts: {
    schema: allowed(word("an account"), "accounts"),
    doc: "Accounts that workflow files may name, besides the cluster's own; `any` for all.",
  },
  partitions: {
    schema: allowed(word("a partition"), "partitions"),
    doc: "Partitions that workflow files may name, besides the cluster's own; `any` for all.",
  },
  qos: {
    schema: allowed(word("a quality of service"), "qualities of service"),
    doc: "Qualities of service that workflow files may name, besides the cluster's own; `any` for all.",
  },
  gres: {
    schema: allowed(word("a kind of GPU"), "kinds of GPUs"),
    doc: "Kinds of GPUs that workflow files may name, besides `gpu` and the cluster's own; `any` for all.",
  },
  options: {
    schema: allowed(optionName, "names of options"),
    doc: "Options of sbatch that workflow files may use, by their long names; `any` for all that Daruma does not set itself.",
  },
  idle_exit: {
    schema: duration({ min: 1_000 }),
    doc: "The longest that an allocation without jobs stays if a workflow file asks for that; by default the cluster's `idle_exit`.",
  },
} as const satisfies Fields;

const clusterFields = {
  type: { schema: oneOf(CLUSTER_TYPES), doc: "The scheduler: `slurm` or `gridengine`.", required: true },
  tags: {
    schema: listOf(tag, { items: "tags", notEmpty: true }),
    doc: "Steps whose `runs_on` asks for these tags run here; by default the cluster's name.",
  },
  account: { schema: word("an account"), doc: "The account (Slurm) or project (Grid Engine) to charge." },
  partition: { schema: word("a partition"), doc: "Slurm only: the partition." },
  queue: { schema: word("a queue"), doc: "Grid Engine only: the queue." },
  qos: { schema: word("a quality of service"), doc: "Slurm only: the quality of service." },
  gres: {
    schema: word("a kind of GPU"),
    doc: "Kind of GPU, such as `gpu:a100` (Slurm), or the resource that counts GPUs (Grid Engine).",
    default: "gpu",
  },
  parallel_environment: {
    schema: word("a parallel environment"),
    doc: "Grid Engine only: the parallel environment that gives several slots on one node.",
  },
  memory_resource: {
    schema: word("a resource"),
    doc: "Grid Engine only: the resource in which memory is asked for.",
  },
  options: { schema: listOf(option, { items: "options" }), doc: "More options for the submission." },
  setup: { schema: listOf(line, { items: "shell lines" }), doc: "Shell lines that run before the worker." },
  program: {
    schema: union(
      listOf(programWord, { items: "words", notEmpty: true }),
      mapped(programWord, (only): readonly string[] => [only]),
    ),
    doc: "How to start Daruma on a node: a program, or a list of it and its first arguments.",
    default: "daruma",
  },
  folder: {
    schema: text({ pattern: /^\//, rule: "Write an absolute path that every node sees." }),
    doc: "Folder for scripts, tokens and logs of allocations; every node must see it.",
  },
  server: { schema: url, doc: "Address where the nodes reach the server; by default the server's own." },
  allocation: { schema: object(allocationFields), doc: "How large and how long allocations are." },
  limits: { schema: object(limitFields), doc: "How many allocations there may be, and how fast they come." },
  auto_schedule_on_ready_jobs: {
    schema: boolean(),
    doc: "Make allocations for ready jobs that no worker has room for.",
    default: true,
  },
  schedulers: {
    schema: union(boolean(), object(schedulerFields)),
    doc: "Slurm only: what workflow files may ask for with `slurm_schedulers`; `false`: their jobs do not run here.",
    default: true,
  },
} as const satisfies Fields;

const clusterKeys = object(clusterFields);

/** One cluster, with the rules that involve several keys. */
export const clusterProfile: Schema<Omit<ClusterSettings, "name">> = named("cluster", {
  ...mapped(clusterKeys, toCluster),
  read(node, path, context) {
    const keys = clusterKeys.read(node, path, context);
    if (keys === undefined || node.kind !== "map") return undefined;
    for (const [key, { type, instead }] of Object.entries(ONLY_FOR)) {
      const entry = findEntry(node, key);
      if (entry === undefined || keys.type === undefined || keys.type === type) continue;
      context.findings.error({
        code: "INVALID_VALUE",
        message: `\`${key}\` is a key of type ${type}, and this cluster is of type ${keys.type}`,
        hint: instead,
        at: entry.keyAt,
        path: childPath(path, key),
      });
    }
    return toCluster(keys);
  },
});

function toCluster(keys: ReadOf<typeof clusterFields>): Omit<ClusterSettings, "name"> {
  const { allocation, limits } = keys;
  return {
    type: keys.type ?? "slurm",
    tags: keys.tags ?? [],
    account: keys.account ?? null,
    target: keys.partition ?? keys.queue ?? null,
    qos: keys.qos ?? null,
    gres: keys.gres ?? null,
    parallelEnvironment: keys.parallel_environment ?? null,
    memoryResource: keys.memory_resource ?? null,
    options: keys.options ?? [],
    setup: keys.setup ?? [],
    program: keys.program ?? ["daruma"],
    folder: keys.folder ?? null,
    server: keys.server ?? null,
    allocation: {
      cpus: allocation?.cpus ?? null,
      memoryBytes: allocation?.memory ?? null,
      gpus: allocation?.gpus ?? null,
      runtimeMs: allocation?.runtime ?? DEFAULTS.runtimeMs,
      jobRuntimeMs: allocation?.job_runtime ?? DEFAULTS.jobRuntimeMs,
      jobMemoryBytes: allocation?.job_memory ?? DEFAULTS.jobMemoryBytes,
      drainMs: allocation?.drain ?? DEFAULTS.drainMs,
      idleExitMs: allocation?.idle_exit ?? DEFAULTS.idleExitMs,
    },
    limits: {
      maxAllocations: limits?.max_allocations ?? DEFAULTS.maxAllocations,
      maxCpus: limits?.max_cpus ?? null,
      threshold: limits?.threshold ?? DEFAULTS.threshold,
      cooldownMs: limits?.cooldown ?? DEFAULTS.cooldownMs,
    },
    autoSchedule: keys.auto_schedule_on_ready_jobs ?? true,
    schedulers: toRules(keys),
  };
}

function toRules({
  type,
  schedulers: given = true,
  allocation,
}: ReadOf<typeof clusterFields>): SchedulerRules | null {
  if (type !== "slurm" || given === false) return null;
  const rules: Partial<ReadOf<typeof schedulerFields>> = given === true ? {} : given;
  return {
    accounts: rules.accounts ?? [],
    partitions: rules.partitions ?? [],
    qos: rules.qos ?? [],
    gres: rules.gres ?? [],
    options: rules.options ?? [],
    idleExitMs: rules.idle_exit ?? allocation?.idle_exit ?? DEFAULTS.idleExitMs,
  };
}
