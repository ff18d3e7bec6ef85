import { excerptOf } from "../core/model/excerpt.js";
import type { JobStatus } from "../core/model/rows.js";
import { isSettled, type Job, type Run } from "../core/model/run.js";
import { whoseTree } from "../core/model/workspace-turn.js";
import { isOneOfSeveral, stepPlace, writtenStep } from "../core/model/written-step.js";
import { counted } from "../core/text/amount-text.js";
import { iso } from "../core/text/iso-time.js";
import { type JobReference, matchJobs, type NamedJob } from "./lookup/choose-job.js";
import { jobName, listNames } from "./lookup/job-name.js";
import { endedText } from "./words/duration-text.js";
import { type JobStory, type RecordedRun, type RunStory, readStories } from "./words/job-story.js";
import { budgetSentence } from "./words/left-budgets.js";
import { runSentences } from "./words/run-happened.js";
import { isFact, textOf } from "./words/sentence.js";

const INDENT = "  ";
/** Limits for the brief story: the number of groups of jobs, and of sentences from the beginning and end of each. */
const MAX_GROUPS = 8;
const MAX_PRINTED_LINES = 12;
const FIRST_SENTENCES = 4;
const LAST_SENTENCES = 10;

const ALIKE: Readonly<Partial<Record<JobStatus, string>>> = {
  completed: "completed",
  failed: "failed",
  held: "are held",
  canceled: "were canceled",
  skipped: "were skipped",
};

export interface ExplainOptions {
  /** Only the jobs that this names (a step, step@scope, or a job's id), even if nothing went wrong there. */
  readonly step?: string;
  /** Every job by itself, every rung that was considered, every cost; else what happened, and jobs that failed alike as one. */
  readonly full?: boolean;
  /**
   * The status, if it is not the one in the log: nobody runs it although it could go on, or child runs keep it from
   * ending.
   */
  readonly stands?: "interrupted" | "held";
  /** What was handled or is open in its child runs; null: nothing. */
  readonly below?: string | null;
  /** How many jobs have completed, if the story leaves some of them out. */
  readonly completed?: number;
}

export interface Explained {
  /** The run as its log left it. */
  readonly run: Run;
  readonly lines: string[];
  /** The jobs that were asked about; empty: all of them. */
  readonly asked: readonly Job[];
  /** There is more to tell than what the brief story says. */
  readonly hasMore: boolean;
}

/** The story of a run in lines, from its log alone: what failed and why, what was tried, what it blocks. */
export function explain(recorded: RecordedRun, options: ExplainOptions = {}): Explained {
  return explainTold(readStories(recorded), options);
}

export function explainTold(
  { run, stories, runEvents, storyOf }: RunStory,
  options: ExplainOptions = {},
): Explained {
  const { step, full = false } = options;
  const wanted = step === undefined ? null : jobsNamed(run, step);
  const told =
    wanted === null
      ? stories.filter(isEventful)
      : wanted
          .flatMap((job) => storyOf(job) ?? [])
          .sort((a, b) => Number(isEventful(b)) - Number(isEventful(a)) || a.place - b.place);
  const lines = [
    overview(run, stories, options) + (told.length === 0 ? errorText(run) : ""),
    ...(step === undefined ? runSentences(run, runEvents) : []),
    ...(full ? told.flatMap((story) => chapter(run, story)) : outlines(run, told)),
    ...(wanted === null ? [] : untouched(run, step!, wanted, told)),
  ];
  const hasMore = !full && told.some(({ sentences }) => !sentences.every(isFact));
  return { run, lines, asked: wanted ?? [], hasMore };
}

function isEventful({ failures, steered }: JobStory): boolean {
  return failures > 0 || steered;
}

/** Empty: the step is one of a fan-out that was not opened. */
function jobsNamed(run: Run, step: string): Job[] {
  const meant = run.graph.byId.get(step);
  const isNamed = (job: Job): boolean => job.scope.open && (meant === undefined || job.step === meant);
  const jobs = run.jobs.filter(isNamed).map(named);
  if (meant !== undefined && jobs.length === 0) return [];
  const ofFamily = jobs.filter(({ job }) => job.step.definition.family === step);
  if (ofFamily.length > 0) return ofFamily.map(({ job }) => job);
  const reference: JobReference = { runId: run.id, name: step };
  return matchJobs(jobs, reference).map(({ job }) => job);
}

function named(job: Job): NamedJob & { readonly job: Job } {
  return { id: job.id, step: job.step.definition.id, scope: job.scope.id, job };
}

/** The log does not speak of these. */
function untouched(run: Run, step: string, wanted: readonly Job[], told: readonly JobStory[]): string[] {
  if (wanted.length === 0) return ["", `${step} has no job: its fan-out was not opened.`];
  if (told.length > 0) return [];
  const names = listNames(wanted, jobName);
  return [
    ...["", `${names}: ${wanted[0]!.status}`, `${INDENT}Nothing has happened to it yet.`],
    ...waitingSentences(run, wanted[0]!).map((sentence) => INDENT + sentence),
  ];
}

function overview(run: Run, stories: readonly JobStory[], options: ExplainOptions): string {
  const open = run.jobs.filter((job) => job.scope.open);
  // These failed in the run from which they were taken over.
  const before = open.filter(({ stoodInBy, attempt }) => stoodInBy !== null && attempt === 0).length;
  const failures = stories.reduce((sum, story) => sum + story.failures, before);
  const completed = options.completed ?? open.filter((job) => job.status === "completed").length;
  const own = failures === 0 ? "nothing failed" : `${failures} ${failures === 1 ? "failure" : "failures"}`;
  const below = options.below ?? null;
  const met = below === null ? own : `${failures === 0 ? "nothing failed in itself" : own}; ${below}`;
  return `Run ${run.id} of ${run.workflow} ${standing(run, options.stands)}: ${completed} of ${open.length} steps completed, ${met}.`;
}

/** The error of a run whose jobs do not show it. */
function errorText({ error, status }: Run): string {
  return error === null || status === "completed" ? "" : ` ${error.code}: ${error.message}`;
}

function standing(run: Run, stands: ExplainOptions["stands"]): string {
  if (run.finishedAt === null) return `is ${stands ?? run.status}`;
  const took = run.finishedAt - (run.startedAt ?? run.createdAt);
  return endedText(run.status === "canceled" ? "was canceled" : run.status, took);
}

/** Describes what happened on about one screen. Jobs with the same history are described once. */
function outlines(run: Run, told: readonly JobStory[]): string[] {
  const groups = [...groupBy(told, (story) => severalOf(story) ?? likeness(story)).values()];
  const more = groups.slice(MAX_GROUPS).flat();
  return [
    ...groups.slice(0, MAX_GROUPS).flatMap((group) => outline(run, group)),
    ...(more.length === 0
      ? []
      : ["", `… and ${more.length} more: ${listNames(more, ({ job }) => jobName(job))}`]),
  ];
}

/**
 * Equal for jobs that the file writes as one step and that failed and ended the same way, whatever they failed of; null: it
 * is the only one of its step.
 */
function severalOf({ job, lastError }: JobStory): string | null {
  const place = stepPlace(job);
  return isOneOfSeveral(place) && lastError !== null
    ? JSON.stringify([writtenStep(place), job.status])
    : null;
}

/** A key that is equal for jobs of which one represents all: the signature of their failure, or else their story. */
function likeness({ job, sentences, lastError }: JobStory): string {
  const end = `${job.status} ${job.failure?.code ?? ""}`;
  if (lastError !== null) return `${end} ${lastError.signature}`;
  return `${end} ${sentences.map(textOf).join("\n")}`;
}

function outline(run: Run, group: readonly JobStory[]): string[] {
  const kinds = [...groupBy(group, likeness).values()].sort((a, b) => b.length - a.length);
  if (kinds.length === 1) return ["", heading(group), ...factsOf(run, group).map((line) => INDENT + line)];
  const more = kinds.slice(MAX_GROUPS).flat();
  return [
    "",
    `${manyOf(group)}, in ${kinds.length} ways:`,
    ...kinds
      .slice(0, MAX_GROUPS)
      .flatMap((kind) => [
        `${INDENT}${counted(kind.length, "item")} (${listNames(kind, ({ job }) => itemName(job))}), for example ${jobName(kind[0]!.job)}:`,
        ...factsOf(run, kind).map((line) => INDENT + INDENT + line),
      ]),
    ...(more.length === 0
      ? []
      : [`${INDENT}… and ${more.length} more: ${listNames(more, ({ job }) => itemName(job))}`]),
  ];
}

/** What happened to the first of them. */
function factsOf(run: Run, group: readonly JobStory[]): string[] {
  const { job, sentences } = group[0]!;
  const facts = sentences.filter(isFact).map(textOf);
  const left = facts.length - FIRST_SENTENCES - LAST_SENTENCES;
  const lines =
    left <= 1
      ? facts
      : [...facts.slice(0, FIRST_SENTENCES), `… ${left} more …`, ...facts.slice(-LAST_SENTENCES)];
  return [...lines, ...printedLines(group[0]!), ...waitingSentences(run, job)];
}

function heading(group: readonly JobStory[]): string {
  const { job } = group[0]!;
  if (group.length === 1) return title(job);
  if (severalOf(group[0]!) !== null) {
    const names = listNames(group, (each) => itemName(each.job));
    return `${manyOf(group)} alike: ${names}. For example ${jobName(job)}:`;
  }
  const names = listNames(group, ({ job: each }) => jobName(each));
  return `${group.length} jobs ${endOf(job)} alike: ${names}. For example ${jobName(job)}:`;
}

function manyOf(group: readonly JobStory[]): string {
  const { job } = group[0]!;
  return `${group.length} items of ${writtenStep(stepPlace(job))} ${endOf(job)}`;
}

function endOf({ status }: Job): string {
  return ALIKE[status] ?? `are ${status}`;
}

/** `img-0197.jpg`: what the item is. A step of a family has its parameters in its name. */
function itemName({ step: { definition }, scope }: Job): string {
  if (scope.parent === null) return definition.id;
  const names: string[] = [];
  for (let each = scope; each.parent !== null; each = each.parent) names.unshift(each.item?.name ?? each.id);
  return names.join(" / ");
}

function title(job: Job): string {
  return `${jobName(job)}: ${job.status}`;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

function chapter(run: Run, story: JobStory): string[] {
  const { job, sentences } = story;
  const budgets = budgetSentence(run, job);
  return [
    "",
    title(job),
    ...sentences.map((sentence) => INDENT + textOf(sentence)),
    ...printedLines(story).map((line) => INDENT + line),
    ...waitingSentences(run, job).map((sentence) => INDENT + sentence),
    ...(budgets === null ? [] : [INDENT + budgets]),
  ];
}

/** The output of the last failed attempt, if the job came no further and the output is more than the line in its sentence. */
function printedLines({ job, lastError }: JobStory): string[] {
  if (lastError === null || (job.status !== "failed" && job.status !== "held")) return [];
  const lines = excerptOf(lastError, MAX_PRINTED_LINES);
  return lines.length < 2 ? [] : ["It printed:", ...lines.map(({ text }) => `${INDENT}| ${text}`)];
}

/** What a job that is not settled waits for, and who waits for it. */
function waitingSentences(run: Run, job: Job): string[] {
  if (isSettled(job.status)) return [];
  const parked = job.parked === null ? [] : [parkedSentence(job.parked)];
  const owner = job.status === "ready" && job.step.definition.usesWorkspace ? whoseTree(run) : null;
  const turn =
    owner === null || owner.mender === job
      ? []
      : [`It waits for the workspace, which ${jobName(owner.failed)} keeps until its failure is handled.`];
  const blocked = job.step.dependents
    .map(({ step }) => job.scope.jobs.get(step))
    .filter((dependent): dependent is Job => dependent?.status === "blocked");
  const behind = `${listNames(blocked, jobName)} ${blocked.length === 1 ? "waits" : "wait"} for it.`;
  return [...parked, ...turn, ...(blocked.length === 0 ? [] : [behind])];
}

function parkedSentence({ breakers, since }: NonNullable<Job["parked"]>): string {
  return `It has waited for ${breakers.join(" and ")} since ${iso(since)}.`;
}
