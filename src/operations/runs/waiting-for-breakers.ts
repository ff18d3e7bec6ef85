import { nextProbeAt, stateOf } from "../../core/breakers/breaker.js";
import { breakersOf } from "../../core/breakers/breakers-of.js";
import { type BreakerDefinition, DEFAULT_BREAKER } from "../../core/model/definition.js";
import { isOver, type Job, type Run } from "../../core/model/run.js";
import { iso } from "../../core/text/iso-time.js";
import { BREAKERS, readBreaker } from "../../engine/breakers/breaker-rows.js";
import { jobName, listNames } from "../../report/lookup/job-name.js";
import type { Context } from "../context.js";

/** Jobs that an open breaker keeps from starting, and a sentence for each breaker. */
export async function waitingForBreakers(
  { store, breakers = [], now }: Pick<Context, "store" | "breakers" | "now">,
  run: Run,
): Promise<{ readonly jobs: ReadonlySet<Job>; readonly lines: readonly string[] }> {
  const waiting = [...run.ready, ...run.parked].filter(
    ({ step, letThrough }) => step.definition.uses !== undefined && !letThrough,
  );
  if (waiting.length === 0 || isOver(run)) return { jobs: new Set(), lines: [] };
  const { rows, at } = await store.readShared(BREAKERS, null, now());
  const found = new Map(rows.map((row) => [row.name, readBreaker(row, DEFAULT_BREAKER)]));
  const shared = new Map<string, BreakerDefinition>(
    [...found].map(([name, { policy }]) => [name, { ...policy, name }]),
  );
  for (const each of breakers) shared.set(each.name, each);
  const behind = new Map<string, { readonly line: string; readonly jobs: Job[] }>();
  for (const job of waiting)
    for (const { key, policy } of breakersOf(run, job, shared)) {
      const breaker = found.get(key);
      if (breaker === undefined || stateOf(breaker, policy, at) !== "open") continue;
      const { opened, probe } = breaker;
      const probeAt = nextProbeAt(breaker, policy);
      const next =
        probe !== null
          ? `run ${probe.run} is trying it`
          : probeAt === null
            ? "it was opened by hand and is closed by hand"
            : `one of them is let through at ${iso(probeAt)}`;
      const line = `${key}, which is open since ${iso(opened!.at)} (${opened!.reason}); ${next}`;
      const group = behind.get(key) ?? { line, jobs: [] };
      behind.set(key, { line, jobs: [...group.jobs, job] });
    }
  const groups = [...behind.values()];
  return {
    jobs: new Set(groups.flatMap(({ jobs }) => jobs)),
    lines: groups.map(({ line, jobs }) => `Waiting for a breaker: ${listNames(jobs, jobName)}, for ${line}.`),
  };
}
