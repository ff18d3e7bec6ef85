import { ERROR_CATALOGUE } from "../core/errors.js";
import { isHandled } from "../core/handled.js";
import type { Job, Run } from "../core/run.js";
import { jobName, listNames } from "./job-name.js";

/** Turns `resume 3` into what must be typed. */
export type CommandText = (command: string) => string;

const CODE_OF_CHILD = /^child run (\d+) /;

/** What to do about a run as it stands, with the commands to type. */
export function nextSteps(run: Run, commandLine: CommandText): string[] {
  const type = (command: string): string => `\`${commandLine(command)}\``;
  switch (run.status) {
    case "completed":
      return [completedText(run)];
    case "canceled":
      return [`Next: start it again if that was not meant: ${startCommand(run, type)}.`];
    case "failed":
      return failedNext(run, type, commandLine);
    case "held":
      return [
        ...deadHolds(run, type),
        `Next: decide what is held: ${type(`holds ${run.id}`)} lists it, ${type(`resolve ${run.id} JOB --retry --reason "..."`)} runs it again (or --fail, --skip, --complete JSON).`,
        run.managed ? "Then the server goes on with it." : `Then ${type(`resume ${run.id}`)} goes on.`,
      ];
    case "paused":
      return [`Next: ${type(`resume ${run.id}`)} lifts the pause.`];
    default:
      return [
        ...questionsNext(run, type),
        run.managed
          ? "Nothing else is to be done: the server goes on with it."
          : `Next: if no process runs it any more, ${type(`resume ${run.id}`)} goes on with it.`,
      ];
  }
}

function completedText(run: Run): string {
  if (run.failed.size === 0) return "Nothing is left to do.";
  return `Nothing is left to do: the run completed although ${listNames([...run.failed], jobName)} failed, as the file allows.`;
}

function deadHolds(run: Run, type: CommandText): string[] {
  return [...run.held]
    .filter(({ queue }) => queue.dead)
    .map(
      (job) =>
        `${jobName(job)} is a dead letter: once the cause is repaired, ${type(`redrive ${job.id}`)} puts it back into the queue.`,
    );
}

function questionsNext(run: Run, type: CommandText): string[] {
  return run.jobs
    .filter((job) => job.question !== null)
    .map(
      (job) =>
        `${jobName(job)} waits for an answer: ${type(`answer ${run.id} ${wordOf(job)} --choose ${job.question!.choices.join("|")}`)}.`,
    );
}

function failedNext(run: Run, type: CommandText, commandLine: CommandText): string[] {
  const unhandled = [...run.failed].filter((job) => !isHandled(job));
  const job = unhandled.find(({ partOf }) => partOf === null);
  if (job === undefined) return [`Next: ${adviceFor(run.error?.code ?? "", commandLine)}`];
  const code = job.failure?.code ?? job.error?.code ?? "";
  const step = job.step.definition.id;
  const scope = job.scope.parent === null ? "" : ` --scope '${job.scope.id}'`;
  const look = job.attempt === 0 ? "" : ` ${type(`logs ${run.id} ${step}${scope}`)} prints what it said.`;
  const files = job.step.definition.usesWorkspace
    ? ` ${type(`workspace ${run.id}`)} tells where its files are.`
    : "";
  const child = CODE_OF_CHILD.exec(job.failure?.message ?? "")?.[1];
  const childLook = child === undefined ? "" : ` ${type(`explain ${child}`)} tells what went wrong there.`;
  const again = type(`retry ${run.id} ${step}${scope}`);
  // A run of a server needs only to be told so.
  const goOn = run.managed ? `${again} goes on` : `${again} and ${type(`resume ${run.id}`)} go on`;
  return [
    `Next: ${adviceFor(code, commandLine)}${look}${files}${childLook}`,
    ...hardReset(run, job, type, scope),
    job.queue.dead
      ? `Then ${type(`redrive ${job.id}`)}${run.managed ? " puts" : ` and ${type(`resume ${run.id}`)} put`} it back into the queue with all rounds anew.`
      : `Then ${goOn} from there; or run it all again: ${startCommand(run, type)}.`,
  ];
}

function hardReset(run: Run, job: Job, type: CommandText, scope: string): string[] {
  const { id, usesWorkspace } = job.step.definition;
  if (!usesWorkspace) return [];
  return [
    `Its workspace can be made anew from its checkpoints first: ${type(`hard-reset ${run.id} ${id}${scope}`)}, then ${type(`resume ${run.id}`)}.`,
  ];
}

/** The catalogue's advice, its commands as they must be typed here. */
function adviceFor(code: string, commandLine: CommandText): string {
  if (Object.hasOwn(ERROR_CATALOGUE, code)) {
    const { next } = ERROR_CATALOGUE[code as keyof typeof ERROR_CATALOGUE];
    return next.replace(/`daruma ([^`]*)`/g, (_, command: string) => `\`${commandLine(command)}\``);
  }
  return code.startsWith("EXIT_")
    ? `find out why the program ends with exit code ${code.slice("EXIT_".length)}.`
    : "see the message above.";
}

function startCommand(run: Run, type: CommandText): string {
  return run.file === null ? "start the workflow once more" : type(`run ${run.file}`);
}

function wordOf(job: Job): string {
  const name = jobName(job);
  return /^[\w@.-]+$/.test(name) ? name : `'${name}'`;
}
