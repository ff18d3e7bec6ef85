import type { Run } from "../core/model/run.js";
import type { Client } from "../operations/client.js";
import type { UsualTimes } from "./render/forecast.js";

/** Reading the log of a larger run takes longer than an estimate is worth, and its own first jobs suffice. */
const MAX_JOBS = 5_000;

/** Reads how long the steps of a workflow took in its last completed run, by step. */
export async function readUsualTimes(
  client: Pick<Client, "call">,
  { workflow, id: before }: Pick<Run, "workflow" | "id">,
): Promise<ReadonlyMap<string, UsualTimes>> {
  const asked = { workflow, before, status: "completed", limit: 1 } as const;
  const [last] = (await client.call("list_runs", asked)).items;
  const jobs = Object.values(last?.jobs ?? {}).reduce((sum, count) => sum + count, 0);
  if (last === undefined || jobs > MAX_JOBS) return new Map();
  const { rows } = await client.call("get_timeline", { run_id: last.run_id });
  return new Map(
    rows.map(({ step, jobs: ofStep, busy_ms, from_ms, to_ms }) => [
      step,
      { eachMs: busy_ms / Math.max(1, ofStep), wholeMs: (to_ms ?? 0) - (from_ms ?? 0) },
    ]),
  );
}
