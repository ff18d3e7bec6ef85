import { DarumaError } from "../../core/errors/errors.js";
import type { JobRow, JobStatus } from "../../core/model/rows.js";
import type { StepPlace } from "../../core/model/written-step.js";
import { didYouMean, Suggester } from "../../file/read/suggest.js";
import type { Store } from "../../store/store.js";
import { listNames, nameOf } from "./job-name.js";
import { type RunReference, requireRun, resolveRun } from "./run-reference.js";

/** How a person names a job: its id, its step, or `step@scope`; the scope may also be given apart. */
export interface JobReference {
  readonly runId: number;
  readonly name: string;
  /** `root/list[2]` or `list[2]`; needed where the step has jobs in several branches. */
  readonly scope?: string;
}

/** A job in the form that operations take. An id identifies its run. */
export interface JobRequest {
  readonly job_id: number | string;
  readonly run_id?: RunReference | undefined;
  readonly scope?: string | undefined;
}

const ONLY_DIGITS = /^\d+$/;

/** What of a job its name is found by. */
export type NamedJob = Pick<JobRow, "id" | "step" | "scope">;

/** The one job that is meant; everything else is refused with what there is to choose from. */
export async function findJob(store: Store, { job_id, run_id, scope }: JobRequest): Promise<JobRow> {
  const name = String(job_id);
  const isId = ONLY_DIGITS.test(name) && Number.isSafeInteger(Number(name));
  const runId = run_id === "last" ? await resolveRun(store, run_id) : run_id;
  const jobs = runId === undefined ? [] : await namedJobs(store, { runId, name, scope });
  // A step may be called by a number, too. In its run the step is meant.
  const isStep = jobs.some(({ step }) => step === name);
  const byId = isId && !isStep ? await store.readJob(Number(name)) : null;
  if (byId !== null) return inRun(byId, runId);
  if (runId === undefined) throw isId ? noSuchJob(name) : withoutRun(name);
  // The job is checked before its run, as in Torc.
  if (isId && !isStep) throw noSuchJob(name);
  await requireRun(store, runId);
  return requireJob(store, chooseJob(jobs, { runId, name, ...(scope === undefined ? {} : { scope }) }).id);
}

/** The jobs of the requested step. If there is none, all jobs of the run, so that the user can choose again. */
async function namedJobs(
  store: Store,
  {
    runId,
    name,
    scope,
  }: { readonly runId: number; readonly name: string; readonly scope: string | undefined },
): Promise<readonly NamedJob[]> {
  for (const { step } of scope === undefined ? waysToSplit(name) : [{ step: name }]) {
    const jobs = await store.readJobNames(runId, { step });
    if (jobs.length > 0) return jobs;
  }
  return ONLY_DIGITS.test(name) ? [] : store.readJobNames(runId);
}

function inRun(job: JobRow, wanted: number | undefined): JobRow {
  if (wanted === undefined || wanted === job.run_id) return job;
  throw new DarumaError("WRONG_RUN", `job ${job.id} belongs to run ${job.run_id}, not to ${wanted}`);
}

function noSuchJob(id: number | string): DarumaError {
  return new DarumaError("JOB_NOT_FOUND", `there is no job ${id}`);
}

function withoutRun(name: string): DarumaError {
  return new DarumaError("INVALID_INPUT", `${name} is not a job id; name its run in run_id`, {
    hint: { typed: "Name the run too, such as `last`.", asked: "Name the run in run_id, such as last." },
  });
}

export async function requireJob(store: Store, id: number): Promise<JobRow> {
  const job = await store.readJob(id);
  if (job === null) throw noSuchJob(id);
  return job;
}

/** Every job that the reference names: of a step without a scope all its jobs. What names none is refused. */
export function matchJobs<T extends NamedJob>(jobs: readonly T[], reference: JobReference): T[] {
  const { runId, name } = reference;
  const isId = ONLY_DIGITS.test(name) && jobs.every((job) => job.step !== name);
  const byId = isId ? jobs.find((job) => job.id === Number(name)) : undefined;
  if (byId !== undefined) return [byId];
  const { step, scope } = splitName(jobs, reference);
  const ofStep = jobs.filter((job) => job.step === step);
  if (ofStep.length === 0) throw noSuchStep(`run ${runId}`, step, [...new Set(jobs.map((job) => job.step))]);
  return scope === undefined ? ofStep : [inScope(ofStep, scope, runId)];
}

/** Ids of the jobs that the name may mean; empty: it means none. */
export async function jobsCalled(
  store: Pick<Store, "readJobNames">,
  runId: number,
  name: string,
): Promise<number[]> {
  for (const { step, scope } of waysToSplit(name)) {
    const jobs = await store.readJobNames(runId, { step });
    if (jobs.length > 0)
      return jobs.filter((job) => scope === undefined || isIn(job, scope)).map(({ id }) => id);
  }
  return ONLY_DIGITS.test(name) ? [Number(name)] : [];
}

/** The one job that the reference names. */
function chooseJob<T extends NamedJob>(jobs: readonly T[], reference: JobReference): T {
  const [job, ...others] = matchJobs(jobs, reference);
  if (others.length === 0) return job!;
  const { step } = job!;
  throw new DarumaError(
    "STEP_AMBIGUOUS",
    `${step} has ${others.length + 1} jobs in run ${reference.runId}: ${jobsOf([job!, ...others])}`,
    { hint: `Name one of them as ${step}@SCOPE, or by its id.` },
  );
}

export function noSuchStep(where: string, step: string, known: readonly string[]): DarumaError {
  const suggestion = new Suggester().nearest(step, known);
  return new DarumaError("STEP_NOT_FOUND", `${where} has no step ${step}${didYouMean(suggestion)}`, {
    hint: `Its steps: ${listNames(known, (id) => id)}.`,
  });
}

function splitName(
  jobs: readonly NamedJob[],
  { name, scope }: JobReference,
): { step: string; scope?: string } {
  if (scope !== undefined) return { step: name, scope };
  const isStep = (text: string): boolean => jobs.some((job) => job.step === text);
  return [...waysToSplit(name)].find(({ step }) => isStep(step)) ?? { step: name };
}

/** A step's own name may hold an `@`, so that what is a step comes first. */
function* waysToSplit(name: string): Generator<{ step: string; scope?: string }> {
  yield { step: name };
  for (let at = name.indexOf("@"); at > 0; at = name.indexOf("@", at + 1))
    yield { step: name.slice(0, at), scope: name.slice(at + 1) };
}

function inScope<T extends NamedJob>(ofStep: readonly T[], scope: string, runId: number): T {
  const found = ofStep.find((job) => isIn(job, scope));
  if (found !== undefined) return found;
  const { step } = ofStep[0]!;
  throw new DarumaError("STEP_NOT_FOUND", `run ${runId} has no ${step} in the scope ${scope}`, {
    hint: `Its jobs: ${jobsOf(ofStep)}.`,
  });
}

function isIn(job: NamedJob, scope: string): boolean {
  return job.scope === scope || job.scope === `root/${scope}`;
}

function jobsOf(ofStep: readonly NamedJob[]): string {
  return listNames(ofStep, ({ step, scope, id }) => `${nameOf(step, scope)} (${id})`);
}

const RUNS_AGAIN: ReadonlySet<JobStatus> = new Set<JobStatus>(["failed", "canceled", "held"]);

/** True where the name stands for several, as a family's does with its braces. Brackets do not: `resize@list[16]` is an item. */
export function isGlob(name: string): boolean {
  return ["*", "?", "{"].some((mark) => name.includes(mark));
}

/** Each job that one of the names means, once, in the order of the run. A glob means those that could run again. */
export async function findNamedJobs(
  store: Store,
  runId: number,
  names: readonly string[],
): Promise<JobRow[]> {
  const found = new Map<number, JobRow>();
  const jobs = names.some(isGlob) ? await store.readJobs(runId) : [];
  for (const name of names)
    for (const job of isGlob(name)
      ? matching(jobs, runId, name)
      : [await findJob(store, { run_id: runId, job_id: name })])
      found.set(job.id, job);
  return [...found.values()].sort((one, other) => one.id - other.id);
}

function matching(jobs: readonly JobRow[], runId: number, glob: string): JobRow[] {
  const fits = jobs.filter((job) => isMeant(job, glob));
  if (fits.length === 0)
    throw new DarumaError("STEP_NOT_FOUND", `run ${runId} has no step like ${glob}`, {
      hint: `See \`daruma show ${runId}\`.`,
    });
  const again = fits.filter(
    ({ status, unanswered }) => RUNS_AGAIN.has(status) && (unanswered || status === "canceled"),
  );
  if (again.length > 0) return again;
  throw new DarumaError("NOT_RETRYABLE", `no step like ${glob} of run ${runId} is failed, canceled or held`);
}

/**
 * Whether a name selects a job. A family's name selects all of its jobs; a pattern is matched with the step and with
 * its items.
 */
export function isMeant({ step, family, scope }: StepPlace, glob: string): boolean {
  return family === glob || [step, nameOf(step, scope)].some((name) => isLike(name, glob));
}

/** `*` any characters, `?` one; it never goes back further than to the last `*`. */
export function isLike(name: string, glob: string): boolean {
  let [at, from] = [0, 0];
  let star: { at: number; from: number } | null = null;
  while (at < name.length) {
    if (glob[from] === "*") {
      star = { at, from };
      from += 1;
    } else if (from < glob.length && (glob[from] === "?" || glob[from] === name[at])) {
      at += 1;
      from += 1;
    } else if (star !== null) {
      star.at += 1;
      at = star.at;
      from = star.from + 1;
    } else return false;
  }
  while (glob[from] === "*") from += 1;
  return from === glob.length;
}
