import type { HoldAction } from "../core/model/events.js";
import type { Job, Run } from "../core/model/run.js";
import { jobName } from "./lookup/job-name.js";
import { type WayBack, wayBackInput, wayBackWords } from "./lookup/ways-back.js";
import { type CommandText, shellWord } from "./words/shell-word.js";

export const ADVICE_KINDS = [
  "nothing",
  "wait",
  "mend",
  "explain",
  "logs",
  "workspace",
  "resume",
  "recover",
  "retry",
  "hard_reset",
  "resume_from",
  "redrive",
  "fork",
  "run",
  "resolve",
  "answer",
] as const;

/** What it comes down to; `nothing`, `wait` and `mend` have no command. */
type AdviceKind = (typeof ADVICE_KINDS)[number];

/** One thing that can be done about a run as it stands. Its commands work as they are: nothing in them is left to fill in. */
export interface Advice {
  readonly kind: AdviceKind;
  /** What it does, and when it is the thing to do: a sentence, which ends with a colon before a command. */
  readonly text: string;
  /** Commands to type one after the other, each as its words after `daruma`. */
  readonly argv: readonly (readonly string[])[];
  /** The same advice as calls of operations, in order. */
  readonly calls: readonly Call[];
}

const INDENT = "  ";

export function advice(kind: AdviceKind, text: string, ...commands: readonly AdvisedCommand[]): Advice {
  return {
    kind,
    text,
    argv: commands.flatMap(({ argv }) => (argv === null ? [] : [argv])),
    calls: commands.flatMap(({ call }) => call ?? []),
  };
}

/** What to type, in one line; null where there is nothing to type. */
export function commandOf({ argv }: Pick<Advice, "argv">, type: CommandText): string | null {
  if (argv.length === 0) return null;
  return argv.map((words) => type(words.map(shellWord).join(" "))).join(" && ");
}

/** Formats advice for people. Each command gets a line of its own, so that it can be copied. */
export function adviceLines(advised: readonly Pick<Advice, "text" | "argv">[], type: CommandText): string[] {
  if (advised.length === 1 && advised[0]!.argv.length === 0) return [advised[0]!.text];
  return [
    "Next:",
    ...advised.flatMap((each) => {
      const command = commandOf(each, type);
      return [`- ${each.text}`, ...(command === null ? [] : [`${INDENT}${INDENT}${command}`])];
    }),
  ];
}

/** An operation with its input, for those who ask over REST or MCP. */
export interface Call {
  readonly operation: string;
  readonly input: { readonly [field: string]: unknown };
}

/** One thing to do: as it is typed (its words after `daruma`) and as it is asked for. Null: not that way. */
export interface AdvisedCommand {
  readonly argv: readonly string[] | null;
  readonly call: Call | null;
}

type ControlAction = "resume" | "retry_step" | "hard_reset_step" | "reset_failed";

function control(run_id: number, action: ControlAction, step_id?: string): Call {
  return {
    operation: "control_run",
    input: { run_id, action, ...(step_id === undefined ? {} : { step_id }) },
  };
}

export function explainCommand(
  run_id: number,
  { step, full = false }: { step?: string | undefined; full?: boolean } = {},
): AdvisedCommand {
  const named = step === undefined ? {} : { step };
  return {
    argv: ["explain", String(run_id), ...Object.values(named), ...(full ? ["--full"] : [])],
    call: { operation: "explain_run", input: { run_id, ...named, ...(full ? { full } : {}) } },
  };
}

export function logsCommand(run: Run, job: Job): AdvisedCommand {
  return {
    argv: ["logs", String(run.id), jobName(job)],
    call: { operation: "get_job_logs", input: { job_id: job.id } },
  };
}

export function workspaceCommand({ id: run_id }: Run): AdvisedCommand {
  return {
    argv: ["workspace", String(run_id)],
    call: { operation: "get_workspace", input: { run_id } },
  };
}

export function resumeCommand(run_id: number): AdvisedCommand {
  return { argv: ["resume", String(run_id)], call: control(run_id, "resume") };
}

export function retryCommand(run: Run, job: Job): AdvisedCommand {
  const step = jobName(job);
  return { argv: ["retry", String(run.id), step], call: control(run.id, "retry_step", step) };
}

export function hardResetCommand(run: Run, job: Job): AdvisedCommand {
  const step = jobName(job);
  return { argv: ["hard-reset", String(run.id), step], call: control(run.id, "hard_reset_step", step) };
}

export function sendBackCommand(run: Run, way: WayBack): AdvisedCommand {
  return {
    argv: wayBackWords(run.id, way),
    call: { operation: "control_run", input: wayBackInput(run.id, way) },
  };
}

export function resetFailedCommand({ id }: Run): AdvisedCommand {
  return { argv: ["reset", String(id)], call: control(id, "reset_failed") };
}

export function recoverCommand({ id: run_id }: Run): AdvisedCommand {
  return { argv: ["recover", String(run_id)], call: { operation: "recover_run", input: { run_id } } };
}

export function redriveCommand({ id: job_id }: Job): AdvisedCommand {
  return { argv: ["redrive", String(job_id)], call: { operation: "redrive_job", input: { job_id } } };
}

export function answerCommand(run: Run, job: Job, choice: string): AdvisedCommand {
  return {
    argv: ["answer", String(run.id), jobName(job), "--choose", choice],
    call: { operation: "answer_job", input: { job_id: job.id, choice } },
  };
}

export function resolveCommand(
  run: Run,
  jobs: readonly Job[],
  action: Exclude<HoldAction, "complete">,
): AdvisedCommand {
  const named = jobs.length === run.held.size && jobs.length > 1 ? ["--all"] : jobs.map(jobName);
  return {
    argv: ["resolve", String(run.id), ...named, `--${action}`],
    call: {
      operation: "resolve_holds",
      input: { classifications: jobs.map(({ id: job_id }) => ({ job_id, action })) },
    },
  };
}

/** The mended file is at hand where it is typed; who asks adds its text as `source`. */
export function forkCommand({ id: run_id, file }: Run, step: string): AdvisedCommand {
  return {
    argv: file === null ? null : ["fork", String(run_id), "--from", step, "--file", file],
    call: { operation: "fork_run", input: { run_id, step } },
  };
}

/** The command for a new run. It needs the file, which only a command line has. */
export function runCommand(file: string, flags: readonly string[]): AdvisedCommand {
  return { argv: ["run", file, ...flags], call: null };
}
