import { DarumaError } from "../core/errors.js";
import type { JobRow } from "../core/rows.js";
import { listNames } from "./job-name.js";

/** How a person names a job: its id, its step, or `step@scope`; the scope may also be given apart. */
export interface JobReference {
  readonly runId: number;
  readonly name: string;
  /** `root/list[2]` or `list[2]`; needed where the step has jobs in several branches. */
  readonly scope?: string;
}

const ONLY_DIGITS = /^\d+$/;

/** What of a job its name is found by. */
export type NamedJob = Pick<JobRow, "id" | "step" | "scope" | "status">;

/** Every job that the reference names: of a step without a scope all its jobs. What names none is refused. */
export function matchJobs<T extends NamedJob>(jobs: readonly T[], reference: JobReference): T[] {
  const { runId, name } = reference;
  const byId = ONLY_DIGITS.test(name) ? jobs.find((job) => job.id === Number(name)) : undefined;
  if (byId !== undefined) return [byId];
  const { step, scope } = splitName(jobs, reference);
  const ofStep = jobs.filter((job) => job.step === step);
  if (ofStep.length === 0) {
    const known = [...new Set(jobs.map((job) => job.step))];
    throw new DarumaError("STEP_NOT_FOUND", `run ${runId} has no step ${name}`, {
      hint: `Its steps: ${listNames(known, (id) => id)}.`,
    });
  }
  return scope === undefined ? ofStep : [inScope(ofStep, scope, runId)];
}

/** The one job that the reference names; everything else is refused with what there is to choose from. */
export function chooseJob<T extends NamedJob>(jobs: readonly T[], reference: JobReference): T {
  const [job, ...others] = matchJobs(jobs, reference);
  if (others.length === 0) return job!;
  const { step } = job!;
  throw new DarumaError(
    "USAGE",
    `${step} has ${others.length + 1} jobs in run ${reference.runId}; name one as ${step}@SCOPE`,
    { hint: scopesOf([job!, ...others]) },
  );
}

/** A step's own name may hold an `@`, so that it comes first. */
function splitName(
  jobs: readonly NamedJob[],
  { name, scope }: JobReference,
): { step: string; scope?: string } {
  const at = name.indexOf("@");
  if (scope !== undefined) return { step: name, scope };
  if (at < 1 || jobs.some((job) => job.step === name)) return { step: name };
  return { step: name.slice(0, at), scope: name.slice(at + 1) };
}

function inScope<T extends NamedJob>(ofStep: readonly T[], scope: string, runId: number): T {
  const found = ofStep.find((job) => job.scope === scope || job.scope === `root/${scope}`);
  if (found !== undefined) return found;
  const { step } = ofStep[0]!;
  throw new DarumaError("STEP_NOT_FOUND", `run ${runId} has no ${step} in the scope ${scope}`, {
    hint: scopesOf(ofStep),
  });
}

function scopesOf(ofStep: readonly NamedJob[]): string {
  return `Its scopes: ${listNames(ofStep, (job) => job.scope)}.`;
}
