import { Argument, Option } from "commander";
import { reportOption } from "../write-reports.js";
import { byFailure } from "./campaign-flags.js";
import {
  collect,
  RUN_ARGUMENT,
  runReference,
  STRICT_FLAG,
  STRICT_WORDS,
  wholeNumber,
} from "./declare-run-commands.js";

/**
 * The parts of a command that cannot be derived from the operation's fields, because people phrase them differently.
 */
export interface CommandShape {
  /** Arguments that replace the positional fields. */
  readonly arguments?: readonly Argument[];
  readonly options?: readonly Option[];
  /** Fields that get no flag. */
  readonly hides?: readonly string[];
  /** Flags whose name differs from their field's. */
  readonly flagNames?: { readonly [field: string]: string };
  /** Help texts of fields. They replace the operation's, which may cover several commands or describe requests. */
  readonly words?: { readonly [field: string]: string };
  readonly details?: string;
  /** The usage line, for a command that reads its words itself. */
  readonly usage?: string;
}

const job = (): Argument =>
  new Argument("<job...>", "a run and a step (3 build, last visit@cities[1]), or a job's id");
const JOB_USAGE = "[options] [run] <job>";
const scope = (): Option => new Option("--scope <scope>", "which branch of a fan-out, such as root/list[2]");
const follow = (what: string): Option => new Option("-f, --follow", what);
const input = (what: string): Option => new Option("--input <name=value>", what).argParser(collect);
const reason = (): Option =>
  new Option("--reason <text>", 'the reason, kept in the log (default: "by hand")');

const maxParallel = (): Option =>
  new Option(
    "--max-parallel <n>",
    "maximum number of attempts at a time (default: the number of cores)",
  ).argParser(wholeNumber(1));
const verbose = (): Option =>
  new Option("-v, --verbose", "also show what steps print, each line prefixed with the step's name");
const strict = (): Option => new Option(STRICT_FLAG, STRICT_WORDS);

/** Flags of commands that continue the run in this process. */
const goingOn = (): Option[] => [
  new Option("--no-resume", "only record it; somebody else continues the run"),
  maxParallel(),
  verbose(),
  reportOption().conflicts(["resume", "dryRun"]),
  strict(),
];

/** Flags of commands that recover a run. */
const rounds = (usual: number): Option[] => [
  new Option(
    "--recovery-hook <command>",
    "a shell command to run before each recovery; if it fails, nothing is recovered",
  ),
  new Option("--max-rounds <n>", `maximum number of times to recover the run (default: ${usual})`).argParser(
    wholeNumber(1),
  ),
];

const STEP_WORDS = "a step: its id, step@scope, or a job's id";
const ALLOCATION_WORDS = "an allocation: its id, CLUSTER/ID, or key";
const ALTHOUGH_BUSY = "end a step that is running in the workspace first";
const FILES_WORDS =
  "in a workspace: keep all that was completed, or restore what was before the step (default)";
const GOES_ON =
  "If no process runs the run, it goes on here; the exit code is the run's then. A run of a server waits for its server.";
const CAMPAIGN =
  "With --signature, --workflow, --step, --class or --since it starts a campaign over all failed jobs that match, of runs on a\nserver: a canary first, then waves. See `daruma campaigns start --help`.";
const MANY =
  "With a run and --signature, --step, --class or --since it takes all failed jobs of the run that match. Without a run, and for a\nrun of a server, that is a campaign: a canary first, then waves. See `daruma campaigns start --help`.";
const ONLY_STEPS = ["step_id", "step_ids", "scope", "force", "wait_ms", "now", "files"];
const NO_HINT = [...ONLY_STEPS, "hint"];

const PLAN_SHAPE: CommandShape = {
  arguments: [new Argument("<file|run>", "a workflow file, the number of a run, or last")],
  hides: ["source", "file_name", "run_id"],
};

const edge = (hides: readonly string[], kind: string): CommandShape => ({
  arguments: [new Argument("<file>", "a workflow file")],
  hides: ["source", "file_name", ...hides],
  words: {
    kind: `transition; or depends_on: ${kind}`,
    transition: "which transition: its number in the list, from 1",
    from: "the step that the edge starts from",
    to: "the step that the edge leads to",
    on: "the outcome of --from that takes the edge",
    when: "a condition in JavaScript",
    priority: "edges with lower numbers are tried first",
    then: "what becomes of the failure when the step at --to has completed: skip, continue or fail",
  },
  options: [new Option("--write", "change the file (default: print the new text)")],
});

export const SHAPES: { readonly [words: string]: CommandShape } = {
  cancel: {
    hides: [...NO_HINT.filter((key) => key !== "now"), "reason"],
    words: { now: "run no undo and finally steps, and end those that are running" },
    options: [
      new Option("--reason <text>", "the reason, kept in the log").default("canceled from the command line"),
    ],
  },
  pause: { hides: NO_HINT },
  takeover: {
    hides: ["step_ids", "force", "wait_ms", "now", "files"],
    words: { step_id: "with --hint: the step that it is for" },
  },
  retry: {
    hides: ["step_id", "wait_ms", "now", "files"],
    words: {
      step_ids: "steps: ids, step@scope, or job ids; * and ? stand for any characters (quote them)",
      force:
        "also go back to a completed step: it and everything that depends on it run again; a step running in the workspace is ended first",
    },
    usage: "[options] [<run> <step...>]",
    options: [...goingOn(), ...byFailure()],
    details: `${GOES_ON}\n${MANY}`,
  },
  "hard-reset": {
    hides: ["step_ids", "wait_ms", "now", "files"],
    words: { step_id: STEP_WORDS, force: ALTHOUGH_BUSY },
    options: goingOn(),
    details: `Pause or take over a running run first, so that nothing else starts in the meantime.\n${GOES_ON}`,
  },
  "resume-from": {
    hides: ["step_ids", "wait_ms", "now"],
    words: {
      step_id: STEP_WORDS,
      force: ALTHOUGH_BUSY,
      files: FILES_WORDS,
    },
    options: goingOn(),
    details: GOES_ON,
  },
  decide: { words: { files: `with --action resume_from, ${FILES_WORDS}` } },
  reset: {
    hides: ONLY_STEPS,
    usage: "[options] [run]",
    options: [
      new Option("--failed-only", "what it does anyway: only failed, canceled and held steps are reset"),
      ...goingOn(),
      ...byFailure(),
    ],
    details: MANY,
  },
  recover: {
    hides: ["job_ids", "key"],
    words: {
      max_memory: "never raise memory beyond this, such as 64g",
      max_runtime: "never raise the runtime beyond this, such as 8h",
      retry_unknown: "also run jobs again that failed for another reason",
    },
    options: [
      ...rounds(1),
      maxParallel(),
      verbose(),
      reportOption().conflicts("dryRun"),
      strict(),
      new Option("--detach", "with --server: recover once, without waiting for the end"),
      new Option("--cancel-on-interrupt", "with --server: Ctrl-C cancels the run instead of leaving it"),
    ],
    details:
      "Every failed or held job is diagnosed: OOM gets more memory, WALLTIME more time, one that was lost with its worker runs\nagain as it is; other failures stay. Then the run continues, here or on the server.",
  },
  resolve: {
    arguments: [
      new Argument("[run]", `a run: ${RUN_ARGUMENT}`).argParser(runReference),
      new Argument("[job...]", "job ids, step ids, or step@scope"),
    ],
    usage: "[options] [<run> [job...]]",
    hides: ["classifications", "run_id"],
    options: [
      new Option("--all", "every hold of the run"),
      scope(),
      new Option("--retry", "run it again with fresh budgets"),
      new Option("--fail", "let it fail; steps that depend on it are canceled"),
      new Option("--skip", "continue without it; steps that depend on it run"),
      new Option("--complete <json>", "continue as if it had completed with this output"),
      new Option("--memory <size>", "with --retry: its memory from now on, such as 8g; more than it has"),
      new Option("--runtime <duration>", "with --retry: its runtime from now on, such as 4h"),
      new Option("--hint <text>", "with --retry: text for the step's next attempts"),
      reason(),
      ...goingOn(),
      ...byFailure(),
    ],
    details: `${GOES_ON}\n${MANY}`,
  },
  "job compare": { arguments: [job()], usage: JOB_USAGE, hides: ["job_id", "run_id"] },
  "job show": { arguments: [job()], usage: JOB_USAGE, hides: ["job_id", "run_id"] },
  "job retry": { arguments: [job()], usage: JOB_USAGE, hides: ["job_id", "run_id"] },
  redrive: {
    arguments: [new Argument("[job...]", "a run and a step (3 build), or a job's id")],
    usage: "[options] [[run] <job>]",
    hides: ["job_id", "run_id", "reason"],
    options: [
      new Option("--retry", "run them again (default)"),
      new Option("--fail", "let them fail; only for held jobs"),
      new Option("--skip", "continue without them; only for held jobs"),
      ...byFailure(),
      reason(),
    ],
    details: CAMPAIGN,
  },
  "campaigns start": {
    hides: ["job_ids"],
    options: [new Option("--detach", "do not wait for the end of the campaign")],
    details: "Ctrl-C leaves the campaign to the server; `daruma campaigns show` shows it again.",
  },
  "campaigns list": { hides: ["campaign"] },
  "campaigns show": { hides: ["limit"], words: { campaign: "the campaign's number" } },
  failures: {
    details: "A failure that is muted or resolved is left out; --state all shows it as well.",
  },
  "failures mute": { words: { until: "how long: a duration such as 7d, or a date" } },
  "failures note": { hides: ["until"] },
  "failures resolve": { hides: ["until"] },
  answer: {
    arguments: [job()],
    usage: JOB_USAGE,
    hides: ["job_id", "run_id", "choice", "text"],
    options: [
      new Option(
        "--choose <choice>",
        "one of the step's choices, such as approve or reject",
      ).makeOptionMandatory(),
      new Option("--text <text>", "a comment; it becomes part of the step's output"),
      scope(),
      ...goingOn(),
    ],
    details: GOES_ON,
  },
  fork: {
    hides: ["step", "source", "file_name", "inputs", "labels", "dry_run"],
    options: [
      new Option(
        "--from <step>",
        "the first step to run again, with everything that depends on it",
      ).makeOptionMandatory(),
      input("an input that replaces one of the old run; repeatable"),
      new Option("--label <key=value>", "a label in addition to those of the old run; repeatable").argParser(
        collect,
      ),
      new Option("--file <file>", "a newer workflow file (default: the old run's definition)"),
      maxParallel(),
      verbose(),
      reportOption(),
      strict(),
      new Option("--detach", "with --server: start the run and print its number, without waiting"),
      new Option("--cancel-on-interrupt", "with --server: Ctrl-C cancels the run instead of leaving it"),
    ],
  },
  validate: {
    arguments: [new Argument("<file...>", "workflow files")],
    hides: ["source", "file_name", "name", "graph"],
  },
  "edge add": edge(["transition"], "--to waits for --from"),
  "edge change": edge(["kind"], ""),
  "edge remove": edge(["on", "priority", "when", "then"], "--to no longer waits for --from"),
  graph: {
    arguments: [new Argument("[file|run]", "a workflow file, the number of a run, or last")],
    hides: ["source", "file_name", "run_id", "format"],
    flagNames: { version: "workflow-version" },
    options: [
      new Option("--format <format>", "format of the picture")
        .choices(["mermaid", "dot", "json"])
        .default("mermaid"),
    ],
  },
  "allocations list": { hides: ["allocation"] },
  "allocations cancel": { words: { target: ALLOCATION_WORDS } },
  "allocations drain": { words: { target: ALLOCATION_WORDS } },
  "allocations resume": { words: { target: "the cluster's name" } },
  "allocations show": { hides: ["cluster", "live", "limit"] },
  "allocations logs": { hides: ["cluster", "live", "limit"] },
  "cluster plan": { ...PLAN_SHAPE, usage: "[options] <file|run>" },
  show: { options: [new Option("--full", "every job separately")] },
  list: {
    hides: ["status"],
    options: [
      new Option("--status <list>", "only runs with these statuses, separated by commas").argParser(collect),
    ],
  },
  events: { hides: ["after", "limit"], options: [follow("keep printing until the run is over")] },
  watch: {
    arguments: [
      new Argument("[run]", `${RUN_ARGUMENT}; by default the events of all runs`).argParser(runReference),
    ],
    hides: ["limit"],
    options: [
      new Option("--recover", "when the run has failed or is held: recover it and keep watching"),
      ...rounds(3),
      new Option(
        "--agent <command>",
        "with --recover: a shell command, such as an agent, that decides what stays held; it gets an MCP server",
      ),
      new Option("--agent-timeout <duration>", "how long the agent may take (default: 30m)"),
      new Option("--memory-factor <n>", "after OOM: memory times this (default: 1.5)"),
      new Option("--max-memory <size>", "never raise memory beyond this, such as 64g"),
      new Option("--runtime-factor <n>", "after WALLTIME: runtime times this (default: 1.4)"),
      new Option("--max-runtime <duration>", "never raise the runtime beyond this, such as 8h"),
      new Option("--retry-unknown", "also run jobs again that failed for another reason"),
      reason(),
      maxParallel(),
      verbose(),
      strict(),
      new Option("--cancel-on-interrupt", "with --server: Ctrl-C cancels the run instead of leaving it"),
    ],
  },
  logs: {
    arguments: [job()],
    usage: JOB_USAGE,
    hides: [
      "job_id",
      "run_id",
      "stream",
      "offset",
      "limit_bytes",
      "encoding",
      "tail_bytes",
      "recovery",
      "attempt",
    ],
    words: {
      regex: "--grep is a regular expression (RE2)",
      lines:
        "print only these lines: 120:160, 120: or -50: (the last 50) of stdout, or with --stderr of stderr",
    },
    options: [
      new Option("--attempt <n>", "number of the attempt (default: the last one)").argParser(wholeNumber(1)),
      new Option("--stderr", "print stderr only"),
      new Option("--recovery", "print the recovery script that followed the attempt"),
      new Option("--context", "print the failure that a transition passed to the attempt"),
      new Option("--prompt", "print the prompt that an agent or a model got in the attempt"),
      new Option("--summary", "print the summary of a failed attempt"),
      new Option("--usage", "print what the attempt used over time, as CSV (with resource_monitor)"),
      follow("keep printing while the attempt runs: stdout, or with --stderr its stderr"),
      scope(),
    ],
  },
  resources: {
    hides: ["series"],
    words: { limit: "how many groups of jobs to show" },
  },
  report: { options: [new Option("--output <file>", "write it to this file (default: stdout)")] },
  workspace: {
    details: 'If the output is not a terminal, only the path is printed: cd "$(daruma workspace 3)".',
  },
  apply: {
    options: [new Option("--patch <file>", "write the patch to this file (default: stdout)")],
  },
  artifact: {
    hides: ["encoding", "limit_bytes", "offset", "tail_bytes"],
    words: { name: "the name as listed by `daruma artifacts RUN`" },
  },
  export: { words: { files: "omit the output of attempts, and artifacts" } },
  "workflow show": { flagNames: { version: "workflow-version" } },
  "workflow save": {
    arguments: [
      new Argument("<name>", "the workflow's name"),
      new Argument("<file>", "the workflow file (YAML or JSON); - reads standard input"),
    ],
    hides: ["name", "source"],
  },
  import: {
    arguments: [new Argument("<file>", "a file that `daruma export` wrote; - reads standard input")],
    hides: ["document"],
  },
};
