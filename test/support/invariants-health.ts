import type { LoggedEvent } from "../../src/core/model/events.js";
import { answerableFor, placeOf } from "../../src/core/model/worker-names.js";
import type { Quarantine, WorkerHealth } from "../../src/core/quarantine/quarantine.js";
import type { GivenPlace } from "./health-bench.js";

type Healths = ReadonlyMap<string, WorkerHealth>;

/**
 * Places that were given between two looks at the store. Who was in the same quarantine at both has got only its
 * probation, or what nobody else connected there could have had.
 */
export function noWorkerInQuarantineGetsWork(
  given: readonly GivenPlace[],
  before: Healths,
  after: Healths,
): string[] {
  return given.flatMap(({ place, server }) => {
    const { worker, at = placeOf({}), placed } = place;
    const name = answerableFor(worker, at);
    if (name === null || !isSameQuarantine(before.get(name), after.get(name))) return [];
    if (placed === "probation") return [];
    const others = server.pool.list().flatMap((each) => answerableFor(each.name, each) ?? []);
    const isHealthy = (other: string): boolean =>
      !before.get(other)?.quarantine && !after.get(other)?.quarantine;
    const other = placed === "only" ? others.find(isHealthy) : name;
    return other === undefined ? [] : [`${worker} got work in quarantine (${placed}), and there is ${other}`];
  });
}

function isSameQuarantine(one: WorkerHealth | undefined, other: WorkerHealth | undefined): boolean {
  return one?.quarantine != null && one.quarantine.since === other?.quarantine?.since;
}

/** Each of its jobs failed on the worker, and another completed it in the same visit. */
export function everyQuarantineHasItsContrast(
  worker: string,
  { jobs }: Pick<Quarantine, "jobs">,
  logOf: (run: number) => readonly LoggedEvent[],
): string[] {
  const found = new Set(jobs.map(({ job }) => job)).size === 3 ? [] : [`${worker}: ${jobs.length} jobs`];
  for (const { run, job, attempt, completedOn } of jobs) {
    const log = logOf(run);
    const starts = log.flatMap(({ event }) =>
      event.type === "attempt.started" && event.job === job ? [event] : [],
    );
    const failed = starts.find((each) => each.attempt === attempt);
    const ended = (type: string, of: number): boolean =>
      log.some(
        ({ event }) => event.type === type && "attempt" in event && event.job === job && event.attempt === of,
      );
    const completed = starts.find(
      (each) =>
        each.worker === completedOn &&
        each.visit === failed?.visit &&
        ended("attempt.succeeded", each.attempt),
    );
    const isContrast =
      failed !== undefined &&
      ended("attempt.failed", attempt) &&
      answerableFor(failed.worker, placeOf(failed)) === worker &&
      completed !== undefined &&
      answerableFor(completed.worker, placeOf(completed)) !== worker;
    if (!isContrast) found.push(`${worker}: job ${job} of run ${run} is no contrast`);
  }
  return found;
}

/** One attempt for each probation that was granted. */
export function oneAttemptForEachProbation(
  worker: string,
  grants: number,
  logs: Iterable<readonly LoggedEvent[]>,
): string[] {
  let attempts = 0;
  for (const log of logs)
    for (const { event } of log)
      if (event.type === "attempt.started" && event.placed === "probation")
        if (answerableFor(event.worker, placeOf(event)) === worker) attempts += 1;
  return attempts <= grants ? [] : [`${worker} had ${attempts} probation attempts for ${grants} probations`];
}
