import type { Event } from "../model/events.js";
import { beginVisit, dropRequest, takeRequest } from "../model/jobs.js";
import { ledBy } from "../model/led-by.js";
import { change, type Job, jobById, type Run } from "../model/run.js";

type Payload<T extends Event["type"]> = Extract<Event, { type: T }>;

export function enterVisit(run: Run, event: Payload<"visit.entered">): void {
  const job = jobById(run, event.job);
  change(run, job, () => {
    const {
      status,
      error,
      failure,
      handled,
      stoodInBy,
      decided,
      below,
      partOf,
      output,
      failedOutput,
      route,
      ledBy: led,
    } = job;
    job.beforeVisit = {
      status,
      error,
      failure,
      handled,
      stoodInBy,
      decided,
      below,
      partOf,
      output,
      failedOutput,
      route,
      ledBy: led,
    };
    const mends = event.role === "remediation";
    const failed = mends ? ledBy(run, job, jobById(run, event.by), { route: "remediate", edge: null }) : null;
    beginVisit(job);
    job.ledBy = failed;
    job.visit = event.visit;
    job.status = "blocked";
    job.visitFor = takeRequest(job);
  });
}

export function leaveVisit(run: Run, event: Payload<"visit.left">): void {
  const job = jobById(run, event.job);
  const list = jobById(run, event.by).list;
  if (job.visitFor?.by.id === event.by) job.visitFor = null;
  // A request may be refused before its visit was entered.
  else dropRequest(job, jobById(run, event.by));
  if (event.ok && list !== null && list.jobs[list.next] === job) list.next += 1;
}

export function startList(
  run: Run,
  job: Job,
  role: "remediation" | "follow_up",
  event: Payload<"remediation.started" | "follow_up.started">,
): void {
  change(run, job, () => {
    if (role === "remediation") job.remediationsInVisit += 1;
    job.list = { role, jobs: event.jobs.map((id) => jobById(run, id)), steps: event.steps, next: 0 };
  });
}

/** A remediation that worked leads to one more attempt, which is a routing transition of the scope. */
export function finishList(run: Run, job: Job, reattempts: boolean): void {
  change(run, job, () => {
    if (reattempts)
      job.repairs = [
        ...job.repairs,
        ...(job.list?.jobs ?? []).map((by) => ({ kind: "step", job: by, attempt: by.attempt }) as const),
      ];
    job.list = null;
  });
  if (reattempts) job.scope.loops += 1;
}
