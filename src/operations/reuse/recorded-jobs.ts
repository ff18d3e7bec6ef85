import { writtenUserData } from "../../core/model/batch/user-data.js";
import type { EventType, FileFacts, Lead, LoggedEvent, ReusedJob } from "../../core/model/events.js";
import { hasFollowUps } from "../../core/model/graph.js";
import { findJob, type Job, type Run, reuseKey } from "../../core/model/run.js";
import type { Store } from "../../store/store.js";

/** What the log of a run knows of its jobs beyond what they are in memory. */
export interface RecordedJobs {
  /** The files of the last successful attempt; undefined if nothing was recorded. */
  filesOf(job: Job): readonly FileFacts[] | undefined;
  leads(job: Job): readonly Lead[];
  /** All that was to follow its success has followed. */
  isFollowedUp(job: Job): boolean;
}

const PAGE_EVENTS = 5_000;
/** The few that say how jobs led to each other. */
const ROUTING: readonly EventType[] = ["visit.entered", "edge.taken", "job.released"];

/** Reads recorded jobs. Jobs that the run itself has reused are described by its own record of them. */
export async function readRecordedJobs(store: Store, run: Run): Promise<RecordedJobs> {
  const files = new Map<number, readonly FileFacts[]>();
  const led = new Map<number, Lead[]>();
  const released = new Set<number>();
  const hasFiles = run.definition.steps.some((step) => step.files !== undefined);
  const types: readonly EventType[] = hasFiles ? [...ROUTING, "attempt.succeeded"] : ROUTING;
  for await (const { event } of readTypes(store, run.id, types)) {
    if (event.type === "attempt.succeeded" && event.files !== undefined) files.set(event.job, event.files);
    else if (event.type === "visit.entered")
      add(run, led, {
        from: event.by,
        to: event.job,
        on: event.role === "follow_up" ? "success" : "failure",
      });
    else if (event.type === "edge.taken") add(run, led, { from: event.job, to: event.target, on: event.on });
    else if (event.type === "job.released") released.add(event.job);
  }
  const taken = (job: Job): ReusedJob | undefined =>
    job.attempt > 0 ? undefined : run.reuse.get(reuseKey(job.scope.id, job.step.definition.id));
  return {
    filesOf: (job) => files.get(job.id) ?? taken(job)?.files,
    leads: (job) => led.get(job.id) ?? taken(job)?.leads ?? [],
    isFollowedUp: (job) => !hasFollowUps(job.step) || released.has(job.id) || taken(job) !== undefined,
  };
}

/** The record of reused jobs for a new run. */
export function takenOver(run: Run, jobs: readonly Job[], recorded: RecordedJobs): ReusedJob[] {
  return jobs.map((job) => {
    const before = run.reuse.get(reuseKey(job.scope.id, job.step.definition.id));
    const files = recorded.filesOf(job);
    const leads = recorded.leads(job);
    return {
      scope: job.scope.id,
      step: job.step.definition.id,
      output: job.output!,
      items: job.items,
      origin: (job.attempt === 0 ? before?.origin : undefined) ?? { run: run.id, attempt: job.attempt },
      ...writtenUserData(run, job.step.definition),
      ...(files === undefined ? {} : { files }),
      ...(leads.length === 0 ? {} : { leads }),
      ...stoodIn(job),
      ...(job.decided === null ? {} : { decided: job.decided }),
      ...(job.below === null ? {} : { below: job.below }),
    };
  });
}

function stoodIn({ stoodInBy, failure }: Job): Pick<ReusedJob, "stood_in"> {
  if (stoodInBy === null) return {};
  return { stood_in: { scope: stoodInBy.scope.id, step: stoodInBy.step.definition.id, failure: failure! } };
}

async function* readTypes(
  store: Store,
  runId: number,
  types: readonly EventType[],
): AsyncGenerator<LoggedEvent> {
  for (let afterSeq = 0; ; ) {
    const page = await store.readEvents(runId, { types, afterSeq, limit: PAGE_EVENTS });
    yield* page;
    if (page.length < PAGE_EVENTS) return;
    afterSeq = page.at(-1)!.seq;
  }
}

interface Leading {
  readonly from: number;
  readonly to: number;
  readonly on: Lead["on"];
}

function add(run: Run, led: Map<number, Lead[]>, { from, to, on }: Leading): void {
  const target = findJob(run, to);
  if (target === null) return;
  const known = led.get(from) ?? [];
  const next: Lead = { scope: target.scope.id, step: target.step.definition.id, on };
  const isKnown = known.some(
    (each) => each.scope === next.scope && each.step === next.step && each.on === on,
  );
  if (!isKnown) led.set(from, [...known, next]);
}
