import { isUndone, type RunEnding } from "../core/model/ending/run-ending.js";
import { isCaught } from "../core/model/handled.js";
import type { Job, Run } from "../core/model/run.js";
import type { LeaseOwner } from "../store/store.js";
import {
  type Advice,
  advice,
  answerCommand,
  explainCommand,
  redriveCommand,
  resetFailedCommand,
  resolveCommand,
  resumeCommand,
} from "./advice.js";
import {
  adviceOnFailure,
  forkAdvice,
  goOn,
  goOnAfterRedrive,
  isInDefinition,
  parentAdvice,
  recoverAdvice,
  sendBackAdvice,
  startAgain,
} from "./failure-advice.js";
import type { HandledChild } from "./handled-in-children.js";
import type { HeldChild } from "./lookup/held-below.js";
import { jobName, listNames } from "./lookup/job-name.js";
import { isImported } from "./lookup/own-runs.js";
import { goesOnWith, programOf } from "./lookup/run-program.js";
import { childText, isOpenChild } from "./words/handled-text.js";

/** How a run stands beside what its log says. */
export interface Standing {
  /** It wants an engine, and nobody runs it. */
  readonly interrupted: boolean;
  /** The owner of the run. */
  readonly owner: Pick<LeaseOwner, "host" | "pid"> | null;
  /** The run to resume: itself, or an open one that it is a child run of. */
  readonly top: number;
  /** For a completed run: what was handled or is open in its child runs. */
  readonly below: readonly HandledChild[];
  /** Child runs that are held or paused, where it waits for nothing else. */
  readonly heldBelow: readonly HeldChild[];
  /** The newest child run of each job that had one. */
  readonly childRuns: ReadonlyMap<number, number>;
  /** The jobs that somebody asks about; of all of them where it is empty. */
  readonly asked: readonly Job[];
}

/** What can be done about a run as it stands, the first thing first. Nothing that would be refused, or could not help. */
export function adviseOn(run: Run, standing: Standing): Advice[] {
  if (isImported(run))
    return [advice("nothing", "The run was imported and can only be read: nothing can be done here.")];
  switch (run.status) {
    case "completed":
      return standing.below.length > 0
        ? standing.below.map(belowAdvice)
        : [advice("nothing", completedText(run))];
    case "canceled":
      return adviceOnCancel(run);
    case "failed":
      return adviceOnFailure(run, standing);
    case "held":
      return adviceOnHolds(run, standing.asked, goOn(run));
    case "paused":
      return [advice("resume", "Lift the pause:", resumeCommand(run.id))];
    case "pending":
      return run.managed || standing.owner !== null
        ? whoGoesOn(run, standing)
        : [advice("resume", "No process waits with it. Put it back into the queue:", resumeCommand(run.id))];
    case "running":
      return [
        ...questions(run),
        ...(run.held.size > 0 ? adviceOnHolds(run, standing.asked, []) : []),
        ...(standing.heldBelow.length > 0
          ? standing.heldBelow.map((child) => heldAdvice(run, child))
          : whoGoesOn(run, standing)),
      ];
  }
}

function heldAdvice({ id }: Run, { run_id, status }: HeldChild): Advice {
  if (status === "paused")
    return advice("resume", `Its child run ${run_id} is paused. Continue both:`, resumeCommand(id));
  return advice(
    "explain",
    `Its child run ${run_id} is held. See why, and what can be decided:`,
    explainCommand(run_id),
  );
}

function belowAdvice(child: HandledChild): Advice {
  const { run_id, status } = child;
  if (isOpenChild(child) && status !== "held")
    return advice("resume", `Its child run ${run_id} is open. Continue it:`, resumeCommand(run_id));
  const text = isOpenChild(child)
    ? `Its child run ${run_id} is held`
    : `It completed with ${childText(child)}`;
  return advice("explain", `${text}. See why:`, explainCommand(run_id));
}

function completedText(run: Run): string {
  if (run.failed.size === 0) return "Nothing is left to do.";
  return `Nothing is left to do: the run completed although ${listNames([...run.failed], jobName)} failed, as ${[...run.failed].every(isCaught) ? "its program caught" : "the file allows"}.`;
}

function adviceOnCancel(run: Run): Advice[] {
  if (run.parent !== null) return [parentAdvice(run.parent.run_id)];
  if (isUndone(run)) return startAgain(run);
  return [
    advice(
      "retry",
      run.cancelRequested?.code === "DEADLINE"
        ? "Continue what was canceled, with a new deadline:"
        : "Continue what was canceled, if the cancel was a mistake:",
      resetFailedCommand(run),
      ...goOn(run),
    ),
    ...startAgain(run),
  ];
}

/**
 * About the held jobs that were asked about, or about all of them. `after`: how the run goes on once it is decided; nothing where somebody is at work on it, or that is
 * advised anyway.
 */
function adviceOnHolds(run: Run, asked: readonly Job[], after: ReturnType<typeof goOn>): Advice[] {
  if (run.ending?.turn != null) return adviceOnUndo(run, run.ending.turn, after);
  const meant = [...run.held].filter((job) => asked.includes(job));
  const all = meant.length === 0 ? [...run.held] : meant;
  const dead = all.filter(({ queue }) => queue.dead);
  const held = all.filter(({ queue }) => !queue.dead);
  const mendable = held.filter((job) => !isInDefinition(job));
  const wrong = held.find(isInDefinition);
  const it = all.length === 1 ? "it" : "them";
  return [
    ...dead.map((job) =>
      advice(
        "redrive",
        `${jobName(job)} is a dead letter; once the cause is fixed, put it back into the queue:`,
        redriveCommand(job),
        ...(after.length === 0 ? [] : goOnAfterRedrive(run)),
      ),
    ),
    ...recoverAdvice(run, after, all),
    ...(mendable.length === 0
      ? []
      : [
          advice(
            "resolve",
            `Run ${listNames(mendable, jobName)} again, once the cause is fixed:`,
            resolveCommand(run, mendable, "retry"),
            ...after,
          ),
        ]),
    ...sendBackAdvice(run, all, after),
    ...(wrong === undefined ? [] : forkAdvice(run, wrong)),
    ...(all.some((job) => job.ledBy?.route === "edge")
      ? []
      : [
          advice(
            "resolve",
            `Continue without ${it} (or as if completed, with --complete JSON):`,
            resolveCommand(run, all, "skip"),
            ...after,
          ),
        ]),
    advice("resolve", `Let ${it} fail:`, resolveCommand(run, all, "fail"), ...after),
  ];
}

/** The run waits for what becomes of an undo; what is undone by hand need not run. */
function adviceOnUndo(
  run: Run,
  { job, item }: NonNullable<RunEnding["turn"]>,
  after: ReturnType<typeof goOn>,
): Advice[] {
  const of = item === null ? jobName(job) : jobName(item.job);
  return [
    advice(
      "resolve",
      `Run ${jobName(job)} again, once the cause is fixed:`,
      resolveCommand(run, [job], "retry"),
      ...after,
    ),
    advice(
      "resolve",
      `Leave ${of} as it is (or say that you have undone it by hand, with --complete null):`,
      resolveCommand(run, [job], "skip"),
      ...after,
    ),
  ];
}

/** One for each answer, so that each can be typed as it is. */
function questions(run: Run): Advice[] {
  return run.jobs.flatMap((job) =>
    (job.question?.choices ?? []).map((choice) =>
      advice("answer", `${jobName(job)} waits for an answer; to ${choice}:`, answerCommand(run, job, choice)),
    ),
  );
}

function whoGoesOn(run: Run, { interrupted, owner, top }: Standing): Advice[] {
  const program = programOf(run);
  if (interrupted && program !== null) return [advice("wait", `The run ${goesOnWith(program, run.id)}.`)];
  if (interrupted) {
    const whose = top === run.id ? "it" : `run ${top}, which it is a child run of`;
    return [advice("resume", `No process runs it any more. Continue ${whose}:`, resumeCommand(top))];
  }
  if (run.managed) return [advice("wait", "There is nothing else to do: the server goes on with it.")];
  const who = owner === null ? "its process" : `process ${owner.pid} on ${owner.host}`;
  return [advice("wait", `There is nothing else to do: ${who} goes on with it.`)];
}
