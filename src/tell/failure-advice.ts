import { type CatalogueEntry, ERROR_CATALOGUE, type ErrorCode } from "../core/errors/errors.js";
import { diagnose, USUAL_SCALE } from "../core/failure/diagnose.js";
import { actionTraits } from "../core/model/action-traits.js";
import { isUndone } from "../core/model/ending/run-ending.js";
import { isUnanswered } from "../core/model/handled.js";
import { RESOURCES } from "../core/model/resources.js";
import type { Job, Run } from "../core/model/run.js";
import type { Json } from "../core/text/json.js";
import {
  type Advice,
  type AdvisedCommand,
  advice,
  explainCommand,
  forkCommand,
  hardResetCommand,
  logsCommand,
  recoverCommand,
  redriveCommand,
  resetFailedCommand,
  resumeCommand,
  retryCommand,
  runCommand,
  sendBackCommand,
  workspaceCommand,
} from "./advice.js";
import { forkableStep, givenLabels } from "./lookup/fork-source.js";
import { jobName, listNames } from "./lookup/job-name.js";
import { waysBackIn } from "./lookup/ways-back.js";

/** The definition itself is at fault. A run keeps the one it started with, so the step fails again however often it is tried. */
const IN_DEFINITION: ReadonlySet<string> = new Set<ErrorCode>([
  "TEMPLATE_ERROR",
  "IF_FAILED",
  "FAIL_IF_ERROR",
  "SCRIPT_ERROR",
  "REQUEST_INVALID",
]);

export function isInDefinition(job: Job): boolean {
  return IN_DEFINITION.has(codeOf(job));
}

export interface FailureStanding {
  readonly childRuns: ReadonlyMap<number, number>;
  readonly asked: readonly Job[];
}

export function adviceOnFailure(run: Run, { childRuns, asked }: FailureStanding): Advice[] {
  const failed = [...run.failed]
    .filter((job) => isUnanswered(run, job))
    .sort((first, second) => first.id - second.id);
  const job = failed.find((each) => asked.includes(each)) ?? failed[0];
  if (job === undefined) return [mend(run.error?.code ?? "", null), ...startAgain(run)];
  const code = codeOf(job);
  const looks = [
    mend(code, job.error?.code === code ? job.error.exit_code : null),
    ...lookAt(run, job, childRuns),
  ];
  if (run.parent !== null) return [...looks, parentAdvice(run.parent.run_id)];
  const again =
    failed.every(isInDefinition) || isUndone(run)
      ? []
      : [
          ...recoverAdvice(run, goOn(run)),
          ...runAgain(run, failed),
          ...sendBackAdvice(run, [job], goOn(run)),
        ];
  const forked = job.step.atEnd === null ? forkAdvice(run, job) : [];
  return [...looks, ...again, ...forked, ...(again.length + forked.length === 0 ? startAgain(run) : [])];
}

function codeOf(job: Job): string {
  return job.failure?.code ?? job.error?.code ?? "";
}

/** What the catalogue says of the code, or what can be said of any exit code. */
function mend(code: string, exitCode: number | null): Advice {
  const entry: CatalogueEntry | null = Object.hasOwn(ERROR_CATALOGUE, code)
    ? ERROR_CATALOGUE[code as ErrorCode]
    : null;
  // How to go on is advised beside it, with commands that are ready.
  const text =
    entry?.fix ??
    entry?.next ??
    (exitCode === null
      ? "See the message above."
      : `Find out why the program ends with exit code ${exitCode}.`);
  return advice("mend", text);
}

/** Points to further information. A failed repair says more than the step that it was to repair. */
function lookAt(run: Run, job: Job, childRuns: ReadonlyMap<number, number>): Advice[] {
  const repairs = [...run.failed].filter(({ partOf }) => partOf === job);
  const child = childRuns.get(job.id);
  return [
    ...(child === undefined
      ? []
      : [advice("explain", "See what went wrong in its child run:", explainCommand(child))]),
    ...[...repairs, job]
      .filter(hasPrinted)
      .map((each) => advice("logs", `See what ${jobName(each)} printed:`, logsCommand(run, each))),
    ...(job.step.definition.usesWorkspace
      ? [advice("workspace", "See where its files are:", workspaceCommand(run))]
      : []),
  ];
}

function hasPrinted(job: Job): boolean {
  return job.attempt > 0 && !isInDefinition(job) && actionTraits(job.step.definition.action.type).isTalkative;
}

/** Suggests a retry in this run, for when a cause outside of its definition has been fixed. */
function runAgain(run: Run, failed: readonly Job[]): Advice[] {
  const [job] = failed;
  if (job!.queue.dead && failed.length === 1)
    return [
      advice(
        "redrive",
        "It is a dead letter; once the cause is fixed, put it back into the queue:",
        redriveCommand(job!),
        ...goOnAfterRedrive(run),
      ),
    ];
  const alone = failed.length === 1 && run.jobs.every(isCanceledWith);
  const what = alone ? jobName(job!) : "all that failed or was canceled";
  const command = alone ? retryCommand(run, job!) : resetFailedCommand(run);
  const fresh = job!.step.definition.usesWorkspace && job!.step.atEnd === null && alone;
  return [
    advice("retry", `Run ${what} again, once the cause is fixed:`, command, ...goOn(run)),
    ...(fresh
      ? [
          advice(
            "hard_reset",
            "The same in a fresh workspace, built from its checkpoints:",
            hardResetCommand(run, job!),
            ...goOn(run),
          ),
        ]
      : []),
  ];
}

/** A retry brings back what waits for the step, but nothing that was canceled for another reason. */
function isCanceledWith(job: Job): boolean {
  return job.status !== "canceled" || job.failure?.code === "DEPENDENCY_FAILED";
}

/** Suggests a new run with a corrected file, because this run keeps the definition that it started with. */
export function forkAdvice(run: Run, job: Job): Advice[] {
  const step = forkableStep(run, job.step.definition.id);
  // A fork would run all the other steps, too.
  if (step === null || run.options.only !== null) return startAgain(run);
  const why = "If the workflow file is at fault, fix it and continue in a new run";
  const kept = "this one keeps the definition it started with";
  const how = run.file === null ? `daruma fork ${run.id} --from ${step} --file FILE, or fork_run.` : "";
  return [advice("fork", `${why} (${kept}): ${how}`.trimEnd(), forkCommand(run, step))];
}

/** The step may be right, and what it examined may be wrong: then who did that has to work again, and hear why. */
export function sendBackAdvice(run: Run, jobs: readonly Job[], after: readonly AdvisedCommand[]): Advice[] {
  const seen = ({ step, scope, status }: Job) => ({ step: step.definition.id, scope: scope.id, status });
  const waysBack = waysBackIn(run.definition, run.jobs.filter(({ scope }) => scope.open).map(seen));
  const ways = new Map(jobs.flatMap((job) => waysBack(seen(job)).map((way) => [way.name, way])));
  return [...ways.values()].map((way) =>
    advice(
      "resume_from",
      `Send the work back to ${way.name}; say what it is to do differently with --hint "..."${way.files === "keep" ? " (its files stay; --files restore takes them back)" : ""}:`,
      sendBackCommand(run, way),
      ...after,
    ),
  );
}

/** What ran out of memory or time does so again, if nobody gives it more. Nothing if none of the jobs that are meant has. */
export function recoverAdvice(
  run: Run,
  after: readonly AdvisedCommand[],
  meant: readonly Job[] = run.jobs,
): Advice[] {
  const found = diagnose(run, { scale: USUAL_SCALE, retryUnknown: false }).filter(({ recovers }) => recovers);
  if (!found.some(({ job }) => meant.includes(job))) return [];
  const raised = RESOURCES.filter((resource) => found.some(({ raise }) => raise?.resource === resource));
  if (raised.length === 0) return [];
  const more = raised.map((resource) => (resource === "memory" ? "memory" : "time")).join(" or ");
  const names = listNames(found, ({ job }) => jobName(job));
  return [advice("recover", `Run ${names} again with more ${more}:`, recoverCommand(run), ...after)];
}

/** Nothing, where a command line cannot say what it was started with. */
export function startAgain(run: Run): Advice[] {
  const inputs = inputFlags(run);
  if (run.file === null || inputs === null || Object.keys(run.context).length > 0) return [];
  const {
    max_loops: maxLoops,
    retry_max: retryMax,
    failure_routing: failureRouting,
    only,
    strict,
  } = run.options;
  return [
    advice(
      "run",
      "Start a new run:",
      runCommand(run.file, [
        ...inputs,
        ...(maxLoops === null ? [] : ["--on-fail-max-loops", String(maxLoops)]),
        ...(retryMax === null ? [] : ["--retry-max", String(retryMax)]),
        ...(failureRouting ? [] : ["--no-failure-routing"]),
        ...(only === null ? [] : ["--only", only]),
        ...(strict === true ? ["--strict"] : []),
        ...Object.entries(givenLabels(run)).flatMap(([key, value]) => ["--label", `${key}=${value}`]),
      ]),
    ),
  ];
}

function inputFlags(run: Run): string[] | null {
  const flags: string[] = [];
  for (const [name, value] of Object.entries(run.inputs)) {
    const declared = run.definition.inputs[name];
    if (declared === undefined || isSame(value, declared.default)) continue;
    // Text is all that a command line has; the declared type makes of it what it was.
    if (typeof value !== "string" && declared.type === "any") return null;
    flags.push("--input", `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  }
  return flags;
}

function isSame(first: Json, second: Json): boolean {
  return JSON.stringify(first) === JSON.stringify(second);
}

/** Refers to the parent run, which decides about its child runs. */
export function parentAdvice(parent: number): Advice {
  const text = `It is a child run of run ${parent}, whose step decides what happens to it:`;
  return advice("explain", text, explainCommand(parent));
}

/** The command to continue a run. A server's run continues by itself, any other by the command that was typed. */
export function goOn(run: Run): readonly AdvisedCommand[] {
  return run.managed ? [] : [{ ...resumeCommand(run.id), argv: null }];
}

/** A redrive is only recorded, also where it is typed. */
export function goOnAfterRedrive(run: Run): readonly AdvisedCommand[] {
  return run.managed ? [] : [resumeCommand(run.id)];
}
