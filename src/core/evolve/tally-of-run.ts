import { isUndone, phaseOf } from "../model/ending/run-ending.js";
import { headlineOf } from "../model/excerpt.js";
import { isCaught, isHandled } from "../model/handled.js";
import { type Job, jobById, type Run } from "../model/run.js";
import type { Concern, RunTally } from "../tally/run-tally.js";
import { firstChars } from "../text/head-tail.js";
import { oneLine } from "../text/plain-text.js";

const MAX_MESSAGE_CHARS = 200;
/** Limit for a message. A line needs no more. */
const MAX_READ_CHARS = 1_000;

/** What the run's row tells of its jobs and of what has become of its failures. */
export function tallyOf(run: Run): RunTally {
  const jobs: { [status: string]: number } = {};
  const decided: Job[] = [];
  for (const job of run.jobs) {
    jobs[job.status] = (jobs[job.status] ?? 0) + 1;
    if (job.decided !== null) decided.push(job);
  }
  const handled = [...run.failed].filter((job) => isHandled(job) && !isCaught(job));
  return {
    jobs,
    handled: handled.length,
    ...(run.book.rows > 0 ? { fell: true as const } : {}),
    ...decidedIn(decided),
    ...(run.jobs.some(({ below }) => below !== null) ? { below: true as const } : {}),
    recovered: run.recoveries.first,
    concern: concernOf(run, handled),
    ...(run.ending === null ? {} : { ending: { phase: phaseOf(run), undone: isUndone(run) } }),
  };
}

function decidedIn(jobs: readonly Job[]): Pick<RunTally, "decided"> {
  const [first] = jobs;
  if (first === undefined) return {};
  return { decided: { jobs: jobs.length, first: { ...placeOf(first), ...first.decided! } } };
}

/** How many jobs wait for somebody. */
export function waitingJobs({ held, asking }: Run): number {
  return held.size + asking.size;
}

function concernOf(run: Run, handled: readonly Job[]): Concern | null {
  const { held, asking, error } = run;
  if (error?.job_id != null) return failureOf(jobById(run, error.job_id), "failed");
  const [first] = held;
  if (first !== undefined) return failureOf(first, first.queue.dead ? "dead_letter" : "held");
  const [asks] = asking;
  if (asks !== undefined)
    return {
      ...placeOf(asks),
      kind: "question",
      code: null,
      message: told(asks.question?.prompt ?? ""),
      to: null,
    };
  return handled[0] === undefined ? null : failureOf(handled[0], "handled");
}

function failureOf(job: Job, kind: Concern["kind"]): Concern {
  const failure = job.failure ?? job.error;
  const to = kind === "handled" ? (job.route?.target.step.definition.id ?? null) : null;
  return {
    ...{ ...placeOf(job), kind, code: failure?.code ?? null, to },
    message: failure === null ? "" : told(headlineOf(failure)),
  };
}

function placeOf({ step, scope }: Job): Pick<Concern, "step" | "scope"> {
  return { step: step.definition.id, scope: scope.id };
}

function told(text: string): string {
  return oneLine(firstChars(text, MAX_READ_CHARS), MAX_MESSAGE_CHARS);
}
