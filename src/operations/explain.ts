import { DarumaError } from "../core/errors.js";
import type { LoggedEvent } from "../core/events.js";
import type { Job, Run } from "../core/run.js";
import { durationText } from "./duration-text.js";
import { jobName, listNames } from "./job-name.js";
import { type JobStory, tellStories } from "./job-story.js";
import { budgetSentence } from "./left-budgets.js";
import { type CommandText, nextSteps } from "./next-steps.js";
import { runSentences } from "./run-story.js";

const INDENT = "  ";
/** Sentences that say why rather than what. */
const DETAIL =
  /^(?:- \w+: no, |Its class is |Cost: |It goes on in a fresh workspace\. |The fresh workspace stood )/;

export interface ExplainOptions {
  /** Only the jobs of this step, even if nothing went wrong there. */
  readonly step?: string;
  /** Only what happened: no classes, no costs, no rungs that did not act. */
  readonly brief?: boolean;
  /** Turns `resume 3` into what must be typed. */
  readonly commandLine?: CommandText;
}

/**
 * The story of a run in sentences, from its log alone: what failed and why, which rungs were considered, what each
 * cost, what is left, what it blocks and what to do next.
 */
export function explain(run: Run, log: readonly LoggedEvent[], options: ExplainOptions = {}): string[] {
  const { step, commandLine = (command) => `daruma ${command}` } = options;
  if (step !== undefined && !run.graph.byId.has(step)) {
    const hint = `Its steps: ${listNames(run.definition.steps, ({ id }) => id)}.`;
    throw new DarumaError("STEP_NOT_FOUND", `run ${run.id} has no step ${step}`, { hint });
  }
  const stories = tellStories(run, log);
  const told = stories.filter(({ job, failures, steered }) =>
    step === undefined ? failures > 0 || steered : job.step.definition.id === step,
  );
  const lines = [
    overview(run, stories),
    ...(step === undefined ? runSentences(run, log) : []),
    ...told.flatMap((story) => (options.brief === true ? outline(story) : chapter(run, story))),
  ];
  if (step !== undefined && told.length === 0) lines.push("", ...untouched(run, step));
  return [...lines, "", ...nextSteps(run, commandLine)];
}

/** The log does not speak of any job of the step. */
function untouched(run: Run, step: string): string[] {
  const jobs = run.jobs.filter((job) => job.step.definition.id === step && job.scope.open);
  if (jobs.length === 0) return [`${step} has no job: its fan-out was not opened.`];
  return jobs.flatMap((job) => [
    `${jobName(job)}: ${job.status}`,
    `${INDENT}Nothing has happened to it yet.`,
  ]);
}

function overview(run: Run, stories: readonly JobStory[]): string {
  const failures = stories.reduce((sum, story) => sum + story.failures, 0);
  const open = run.jobs.filter((job) => job.scope.open);
  const completed = open.filter((job) => job.status === "completed").length;
  const took =
    run.finishedAt === null ? "" : ` in ${durationText(run.finishedAt - (run.startedAt ?? run.createdAt))}`;
  const met =
    failures === 0 ? "nothing failed" : `${failures} ${failures === 1 ? "failure" : "failures"} met`;
  const error =
    run.error === null || run.status === "completed" ? "" : ` ${run.error.code}: ${run.error.message}`;
  return `Run ${run.id} of ${run.workflow} is ${run.status}${took}: ${completed} of ${open.length} steps completed, ${met}.${error}`;
}

function outline({ job, sentences }: JobStory): string[] {
  const events = sentences.filter((sentence) => !DETAIL.test(sentence));
  return ["", `${jobName(job)}: ${job.status}`, ...events.map((sentence) => INDENT + sentence)];
}

function chapter(run: Run, { job, sentences }: JobStory): string[] {
  const budgets = budgetSentence(run, job);
  return [
    "",
    `${jobName(job)}: ${job.status}`,
    ...sentences.map((sentence) => INDENT + sentence),
    ...(sentences.length === 0 ? [`${INDENT}Nothing has happened to it yet.`] : []),
    ...waitingSentences(job).map((sentence) => INDENT + sentence),
    ...(budgets === null ? [] : [INDENT + budgets]),
  ];
}

/** Who waits for a job that is not settled. */
function waitingSentences(job: Job): string[] {
  if (["completed", "failed", "skipped", "canceled"].includes(job.status)) return [];
  const blocked = job.step.dependents
    .map(({ step }) => job.scope.jobs.get(step))
    .filter((dependent): dependent is Job => dependent?.status === "blocked");
  return blocked.length === 0 ? [] : [`It holds up ${listNames(blocked, jobName)}.`];
}
