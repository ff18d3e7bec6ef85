import { DarumaError } from "../../core/errors/errors.js";
import type { JobRow, JobStatus } from "../../core/model/rows.js";
import type { StepPlace } from "../../core/model/written-step.js";
import type { Store } from "../../store/store.js";
import { findJob } from "./choose-job.js";
import { nameOf } from "./job-name.js";

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
