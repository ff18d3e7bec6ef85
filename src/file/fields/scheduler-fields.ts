import { oursFor } from "../../core/text/foreign-words.js";
import {
  MAX_DURATION_MS,
  parseGpus,
  parseLongOptions,
  parseSlurmMemory,
  parseWalltime,
} from "../read/amounts.js";
import { namedListOf } from "../read/named-list.js";
import { childPath, type Path } from "../read/path.js";
import {
  type Fields,
  located,
  mapOf,
  mapped,
  named,
  object,
  type ReadContext,
  type ReadOf,
  type Schema,
} from "../read/schema.js";
import { number, type Scalar, scalarText, text } from "../read/schema-scalars.js";
import { quote } from "../read/suggest.js";

const MAX_NAME_CHARS = 200;
const MAX_TEXT_CHARS = 2_000;
const MAX_NODES = 100_000;
const MAX_TASKS = 1_000_000;

/** One word for the batch system: it goes into an argument as it is. */
const word = (expected: string) =>
  scalarText({
    expected,
    maxChars: MAX_NAME_CHARS,
    pattern: /^[A-Za-z0-9_@][A-Za-z0-9_@.:-]*$/,
    rule: "Use letters, digits and _ @ . : -, and no blanks.",
  });

/** Text that is read into another value; what cannot be is reported with this rule. */
function parsed<T>(expected: string, rule: string, parse: (text: string) => T | null): Schema<T, Scalar> {
  const given = scalarText({ expected, maxChars: MAX_TEXT_CHARS });
  return {
    ...mapped(given, (value) => parse(value) as T),
    read(node, path, context) {
      const value = given.read(node, path, context);
      const found = value === undefined ? null : parse(value);
      if (found !== null) return found;
      if (value !== undefined) {
        const message = `${quote(value)} is not ${expected}`;
        context.findings.error({ code: "INVALID_VALUE", message, hint: rule, at: node.at, path });
      }
      return undefined;
    },
  };
}

const positive = (parse: (text: string) => number | null, most: number) => (text: string) => {
  const amount = parse(text);
  return amount !== null && amount > 0 && amount <= most ? amount : null;
};

const SCHEDULER_FIELDS = {
  name: {
    schema: located(
      text({
        asWritten: true,
        maxChars: MAX_NAME_CHARS,
        pattern: /^[^\p{Cc}]*$/u,
        rule: "Give a name on one line.",
      }),
    ),
    doc: "The name by which jobs and actions refer to it.",
    required: true,
  },
  account: { schema: word("an account"), doc: "The account to charge, if the cluster's settings allow it." },
  partition: { schema: word("a partition"), doc: "The partition, if the cluster's settings allow it." },
  qos: {
    schema: word("a quality of service"),
    doc: "The quality of service, if the cluster's settings allow it.",
  },
  nodes: {
    schema: number({ min: 1, max: MAX_NODES, whole: true }),
    doc: "With `num_allocations` of the actions that name the scheduler: the most nodes at a time.",
    default: 1,
  },
  walltime: {
    schema: parsed(
      "a time limit such as `04:00:00`",
      "Write hours:minutes:seconds, days-hours:minutes:seconds, or a duration such as 4h; at most 24.8 days.",
      positive(parseWalltime, MAX_DURATION_MS),
    ),
    doc: "How long an allocation may last; more if a job needs more.",
  },
  mem: {
    schema: parsed(
      "an amount of memory such as `64G`",
      "Write a size such as 64G, a number of mebibytes, or 0 for all that a node has.",
      positive(parseSlurmMemory, Number.MAX_SAFE_INTEGER),
    ),
    doc: "Memory of an allocation on each node; more if its jobs need more.",
  },
  gres: {
    schema: parsed(
      "a number of GPUs",
      "Write GPUs, such as gpu:2 or gpu:a100:2; Daruma knows no other kinds.",
      parseGpus,
    ),
    doc: "GPUs of an allocation on each node, as `gpu:2` or `gpu:a100:2`.",
  },
  ntasks_per_node: {
    schema: number({ min: 1, max: MAX_TASKS, whole: true }),
    doc: "Processors of an allocation on each node; more if its jobs need more.",
  },
  tmp: {
    schema: word("an amount of disk space"),
    doc: "The option --tmp, if the cluster's settings allow it.",
  },
  extra: {
    schema: parsed(
      "a list of long options",
      "Write long options of sbatch with their values, such as --exclusive --constraint=skylake.",
      parseLongOptions,
    ),
    doc: "More options of sbatch; only those that the cluster's settings allow.",
  },
} as const satisfies Fields;

/** A scheduler as its file gives it. */
export type SchedulerDraft = ReadOf<typeof SCHEDULER_FIELDS>;

export const schedulers = namedListOf(
  named("slurm_scheduler", object(SCHEDULER_FIELDS, { misplaced: (key) => oursFor("key", key) })),
  "schedulers",
);

/** What each scheduler says itself, or what Daruma sets. */
const NOT_DEFAULTS = ["partition", "nodes", "walltime", "time", "mem", "gres", "name", "job-name"];

const options = mapOf(
  scalarText({
    expected: "text, a number, true or false",
    maxChars: MAX_TEXT_CHARS,
    pattern: /^[^\n\r]*$/,
    rule: "Write it on one line.",
    mayBeEmpty: true,
  }),
  {
    keyPattern: /^[A-Za-z][A-Za-z0-9-]{0,60}$/,
    keyRule: "Write a long option of sbatch without its dashes, such as `constraint`.",
  },
);

/** Options of sbatch for all schedulers of the file, by their long names. */
export const schedulerDefaults: typeof options = {
  ...options,
  read(node, path, context) {
    const given = options.read(node, path, context);
    if (given !== undefined && node.kind === "map")
      for (const { key, keyAt } of node.entries)
        if (NOT_DEFAULTS.includes(key)) refuseDefault(key, keyAt, path, context);
    return given;
  },
};

function refuseDefault(key: string, at: number, path: Path | null, { findings }: ReadContext): void {
  const message = `${quote(key)} cannot be a default of all schedulers`;
  const hint = "Write it in the entries of `slurm_schedulers`, or remove it.";
  findings.error({ code: "INVALID_VALUE", message, hint, at, path: childPath(path, key) });
}
