import { chooseJob, type NamedJob } from "../operations/choose-job.js";
import type { Client } from "../operations/client.js";
import type { RunReference } from "../operations/run-reference.js";

export interface FoundJob extends NamedJob {
  readonly run_id: number;
}

const MAX_PAGE = 1_000;

/** The jobs of a run that the words name: ids, steps, or step@scope. */
export async function findJobs(
  client: Client,
  reference: RunReference,
  names: readonly string[],
  scope: string | undefined,
): Promise<FoundJob[]> {
  const jobs = await jobsOf(client, reference);
  const runId = jobs[0]?.run_id ?? (await client.call("get_run_definition", { run_id: reference })).run_id;
  return names.map((name) => chooseJob(jobs, { runId, name, ...(scope === undefined ? {} : { scope }) }));
}

async function jobsOf(client: Client, reference: RunReference): Promise<FoundJob[]> {
  const jobs: FoundJob[] = [];
  for (let after = 0; ; ) {
    const page = await client.call("list_jobs", { run_id: reference, limit: MAX_PAGE, after });
    jobs.push(...page.items);
    if (page.next === null) return jobs;
    after = page.next;
  }
}
