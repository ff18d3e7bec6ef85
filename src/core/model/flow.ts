import type { StepDefinition } from "./definition.js";
import type { Job, Run } from "./run.js";

/** What the program of a flow calls that no worker executes, and the functions that only its own process can. */
export const FUNCTION = "function";
export const WAIT = "wait";
export const MAP = "map";

/** The action of a program is named after its flow: a process that has the action has the program. */
const PROGRAM = "flow:";

export function programAction(flow: string): string {
  return `${PROGRAM}${flow}`;
}

/** The flow whose program this action is; null: it is another action. */
export function flowOf(action: string): string | null {
  return action.startsWith(PROGRAM) ? action.slice(PROGRAM.length) : null;
}

/** How the program of a flow has called a job. */
export interface Call {
  readonly by: Job;
  /** The attempt of the program that has called it last; 0: somebody has gone back to before that. */
  readonly attempt: number;
  /** How many outcomes the program knew when it called. */
  readonly after: number;
  /** Which of the run's outcomes its own is, from 1, and when it came. 0: it has none. */
  readonly outcome: number;
  readonly settledAt: number;
  /** Where in the program. */
  readonly source: string | null;
  /** A person wants the program to have its failure, so nobody is asked about it again. */
  readonly isGiven: boolean;
}

/** What is known of a program between its attempts. */
export interface Program {
  /** From its first attempt on: what it draws from is the same each time. */
  readonly seed: string;
  /** It waits for an outcome of these, and nobody executes it meanwhile. */
  readonly awaits: readonly Job[] | null;
  /** The step whose failure it did not catch when it failed. */
  readonly because: Job | null;
}

export function isProgram({ step }: Pick<Job, "step">): boolean {
  return flowOf(step.definition.action.type) !== null;
}

/** The program of a run; null: the run is of a file. */
export function programOf(run: Run): Job | null {
  const first = run.jobs[0];
  return first !== undefined && isProgram(first) ? first : null;
}

/** All that its program has called, also what was taken back since. */
export function callsOf(run: Run, program: Job): Job[] {
  return run.jobs.filter((job) => job.call?.by === program);
}

/** The steps of a run: those of its definition, and what its program has called. */
export function stepsOf({ graph }: Pick<Run, "graph">): StepDefinition[] {
  return graph.steps.map(({ definition }) => definition);
}

/** The program is at work, and has called this job since it began. */
export function isCalled({ call }: Job): boolean {
  return call !== null && call.by.status === "running" && call.by.attempt === call.attempt;
}

/** The program that has called the job, or what the job repairs; null: it belongs to a file. */
export function programFor(job: Job): Job | null {
  return (job.call ?? job.visitFor?.by.call)?.by ?? null;
}

/** It may become ready, as far as its program is concerned: a function only while the program is there to execute it. */
export function awaitsCall(job: Job): boolean {
  if (job.step.definition.action.type !== FUNCTION) return false;
  const called = job.call === null ? (job.visitFor?.by ?? null) : job;
  return called !== null && called.call !== null && !isCalled(called);
}

/** What the program has called knowing the outcome of this job, and so perhaps because of it. */
export function calledSince(run: Run, { call }: Job): Job[] {
  if (call === null || call.outcome === 0) return [];
  return callsOf(run, call.by).filter((job) => isRecorded(job) && job.call!.after >= call.outcome);
}

/** The program has called it, and nobody has gone back to before that. */
export function isRecorded({ call, scope }: Job): boolean {
  return call !== null && call.attempt > 0 && scope.open;
}
