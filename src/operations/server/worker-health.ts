import { z } from "zod";
import { HEALTHY, stateOf, type WorkerHealth } from "../../core/quarantine/quarantine.js";
import { iso } from "../../tell/run-report.js";
import type { Answer } from "../operation.js";

export const healthState = z.enum(["healthy", "quarantined", "probation"]);

const time = z.string().nullable();

/** Whether a worker gets attempts, and why not. */
export const workerHealth = z.object({
  /** The name to release it by: the worker's, or `CLUSTER/NODE`; null: the server's own, which is never quarantined. */
  name: z.string().nullable(),
  state: healthState,
  since: time,
  until: time,
  times: z.number(),
  jobs: z.array(
    z.object({
      run_id: z.number(),
      job_id: z.number(),
      step: z.string(),
      attempt: z.number(),
      code: z.string(),
      completed_on: z.string(),
    }),
  ),
  freed: z.object({ at: z.string(), by: z.string().nullable(), reason: z.string() }).nullable(),
});

export function healthItem(
  name: string | null,
  health: WorkerHealth | undefined,
  now: number,
): Answer<typeof workerHealth> {
  const { quarantine, freed } = health ?? HEALTHY;
  const state = stateOf({ quarantine, freed }, now);
  return {
    name,
    state,
    since: quarantine === null ? null : iso(quarantine.since),
    until: quarantine === null || state !== "quarantined" ? null : iso(quarantine.until),
    times: quarantine?.times ?? 0,
    jobs: (quarantine?.jobs ?? []).map(({ run, job, step, attempt, code, completedOn }) => ({
      run_id: run,
      job_id: job,
      step,
      attempt,
      code,
      completed_on: completedOn,
    })),
    freed: freed === null ? null : { ...freed, at: iso(freed.at) },
  };
}
