import type { Path } from "../read/path.js";
import {
  type Fields,
  type LocatedText,
  listOf,
  located,
  locatedText,
  named,
  object,
  type ReadOf,
  type Schema,
  type Written,
} from "../read/schema.js";
import { boolean, scalarText, text } from "../read/schema-scalars.js";
import type { SourceMap } from "../read/source-tree.js";
import { FAMILY_FIELDS, namesOfBatch, regularExpressions } from "./file-fields.js";
import { shellField } from "./shell-field.js";
import { environmentOf, MAX_DESCRIPTION_CHARS, STEP_FIELDS, whyNoStepKey } from "./step-fields.js";

const MAX_NAME_PATTERN_CHARS = 1_000;

/** Text with unfilled placeholders. Problems of the filled text are reported at its place. */
export type Unfilled = LocatedText;
const unfilled = locatedText;

const {
  type: _type,
  forEach: _forEach,
  fanout: _fanout,
  join: _join,
  execution: _execution,
  env: _env,
  cwd: _cwd,
  description: _description,
  files: _files,
  ...sharedFields
} = STEP_FIELDS;
const FAN_OUT_KEYS: readonly string[] = ["forEach", "for_each", "fanout", "join"];
const ACTION_KEYS: readonly string[] = ["type", "kind", "implementation", "exec"];

export const JOB_FIELDS = {
  name: {
    schema: unfilled(text({ expected: "a job's name", asWritten: true, maxChars: MAX_NAME_PATTERN_CHARS })),
    doc: "The job's name; with parameters a pattern such as `train_{i:03d}`.",
    required: true,
  },
  command: {
    schema: unfilled(text({ expected: "a shell command" })),
    doc: "A command line for the shell; `{i}` of declared parameters is filled in.",
    required: true,
  },
  shell: {
    ...shellField,
    doc: "What runs the command: `sh` or `bash`, which stop at the first line that fails, or a list as in steps. By default that of the file, else plain `bash -c`, or `sh -c` where there is no bash.",
  },
  description: {
    schema: unfilled(text({ mayBeEmpty: true, maxChars: MAX_DESCRIPTION_CHARS })),
    doc: "What the job is for; `{i}` of declared parameters is filled in.",
  },
  invocation_script: {
    schema: unfilled(text({ expected: "the beginning of a shell command" })),
    doc: "Stands before the command on the same shell line, such as a launcher or a script that prepares the environment and runs its arguments.",
  },
  depends_on_regexes: {
    schema: regularExpressions,
    doc: "Regular expressions; every other job whose name one of them is found in must complete first.",
  },
  input_files: {
    schema: namesOfBatch,
    doc: "Names of files that must be there; the job that makes one comes first.",
  },
  input_file_regexes: {
    schema: regularExpressions,
    doc: "The same by regular expressions over files' names.",
  },
  output_files: {
    schema: namesOfBatch,
    doc: "Names of files that the job makes; one that is missing afterwards is a failure.",
  },
  output_file_regexes: {
    schema: regularExpressions,
    doc: "The same by regular expressions over files' names.",
  },
  input_user_data: {
    schema: namesOfBatch,
    doc: "Names of values that the job reads from the file $DARUMA_USER_DATA_IN; the job that writes one comes first.",
  },
  input_user_data_regexes: {
    schema: regularExpressions,
    doc: "The same by regular expressions over values' names.",
  },
  output_user_data: {
    schema: namesOfBatch,
    doc: "Names of values that the job writes to the file $DARUMA_USER_DATA_OUT; one that is missing afterwards is a failure.",
  },
  output_user_data_regexes: {
    schema: regularExpressions,
    doc: "The same by regular expressions over values' names.",
  },
  ...FAMILY_FIELDS,
  scheduler: {
    schema: located(text({ asWritten: true, maxChars: MAX_NAME_PATTERN_CHARS })),
    doc: "The entry of `slurm_schedulers` by which the job runs on a cluster.",
  },
  cancel_on_blocking_job_failure: {
    schema: located(boolean()),
    doc: "The batch form's way to write `needs`: `false` is `settled`, `true` is `completed`.",
  },
  supports_termination: {
    schema: located(boolean()),
    doc: "`false`: the job cannot end in an orderly way, so it is killed at once, without SIGTERM and `kill_grace_ms`.",
  },
  env: {
    schema: environmentOf(unfilled(scalarText({ expected: "text", mayBeEmpty: true }))),
    doc: "Environment variables of this job.",
  },
  cwd: {
    schema: unfilled(text()),
    doc: "Working folder; relative ones start at the run's folder.",
  },
  ...sharedFields,
  runs_on: { ...sharedFields.runs_on, aliases: ["label"] },
} as const satisfies Fields;

/** A job of the batch form as its file gives it: one for all values of its parameters. */
export interface JobDraft {
  readonly keys: ReadOf<typeof JOB_FIELDS>;
  readonly node: SourceMap;
  readonly path: Path | null;
  /** Problems in it leave open what its jobs are called or need. */
  readonly unsure: boolean;
}

/** Names that these keys had in older files of this form. */
const OLDER_NAMES = new Map([
  ["blocked_by", "depends_on"],
  ["blocked_by_job_names", "depends_on"],
  ["blocked_by_regexes", "depends_on_regexes"],
  ["blocked_by_job_name_regexes", "depends_on_regexes"],
]);

const jobMap = object(JOB_FIELDS, {
  renamed: OLDER_NAMES,
  misplaced(key) {
    if (FAN_OUT_KEYS.includes(key)) return "jobs have no fan-out; use `parameters`, or `steps` for forEach";
    if (ACTION_KEYS.includes(key)) return "a job is always a `command`; use `steps` for other actions";
    if (key === "priority") return "`jobs_sort_method` says which of the ready jobs start first";
    return whyNoStepKey(key);
  },
});

const job: Schema<JobDraft, Written<typeof jobMap>> = named("job", {
  ...jobMap,
  read(node, path, context) {
    const before = context.findings.errors.length;
    const keys = jobMap.read(node, path, context);
    if (keys === undefined || node.kind !== "map") return undefined;
    return { keys, node, path, unsure: context.findings.errors.length > before };
  },
});

export const jobs = listOf(job, { items: "jobs" });
