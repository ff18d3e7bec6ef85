import { DarumaError, ERROR_CATALOGUE } from "../core/errors.js";
import type { LoggedEvent } from "../core/events.js";
import { isOver, type Job, type Run } from "../core/run.js";
import { durationText } from "./duration-text.js";
import { jobName, listNames } from "./job-name.js";
import { type JobStory, tellStories } from "./job-story.js";
import { budgetSentence } from "./left-budgets.js";

const INDENT = "  ";

/**
 * The story of a run in sentences, from its log alone: what failed and why, which rungs were considered, what each
 * cost, what is left and what to do next. With a step, only the jobs of that step, even if nothing went wrong there.
 */
export function explain(run: Run, log: readonly LoggedEvent[], step?: string): string[] {
  if (step !== undefined && !run.graph.byId.has(step)) {
    const hint = `Its steps: ${listNames(run.definition.steps, ({ id }) => id)}.`;
    throw new DarumaError("STEP_NOT_FOUND", `run ${run.id} has no step ${step}`, { hint });
  }
  const stories = tellStories(run, log);
  const told = stories.filter(({ job, failures }) =>
    step === undefined ? failures > 0 : job.step.definition.id === step,
  );
  const lines = [overview(run, stories), ...told.flatMap((story) => chapter(run, story))];
  if (step !== undefined && told.length === 0)
    lines.push("", `${step} has no job: its fan-out was not opened.`);
  return [...lines, "", ...nextSteps(run)];
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

function nextSteps(run: Run): string[] {
  const [failed] = [...run.failed].filter((job) => job.handled === null && job.partOf === null);
  switch (run.status) {
    case "completed":
      return [
        run.failed.size === 0
          ? "Nothing is left to do."
          : `Nothing is left to do: the run completed although ${listNames([...run.failed], jobName)} failed, as the file allows.`,
      ];
    case "canceled":
      return [`Next: start it again if that was not meant: ${startCommand(run)}.`];
    case "failed":
      return failed === undefined ? [`Next: ${adviceFor(run.error?.code ?? "")}`] : failedNext(run, failed);
    default:
      return isOver(run)
        ? []
        : [`Next: if no process runs it any more, \`daruma resume ${run.id}\` goes on with it.`];
  }
}

function failedNext(run: Run, job: Job): string[] {
  const code = job.failure?.code ?? job.error?.code ?? "";
  const step = job.step.definition.id;
  const scope = job.scope.parent === null ? "" : ` --scope '${job.scope.id}'`;
  const look = job.attempt === 0 ? "" : ` \`daruma logs ${run.id} ${step}${scope}\` prints what it said.`;
  return [`Next: ${adviceFor(code)}${look}`, `Then run it again: ${startCommand(run)}.`];
}

function adviceFor(code: string): string {
  if (Object.hasOwn(ERROR_CATALOGUE, code)) return ERROR_CATALOGUE[code as keyof typeof ERROR_CATALOGUE].next;
  return code.startsWith("EXIT_")
    ? `find out why the program ends with exit code ${code.slice("EXIT_".length)}.`
    : "see the message above.";
}

function startCommand(run: Run): string {
  return run.file === null ? "start the workflow once more" : `\`daruma run ${run.file}\``;
}
