import { describe, expect, it } from "vitest";
import { findViolations } from "../support/invariants.js";
import { aCampaignTouchesOnlyItsItems } from "../support/invariants-campaign.js";
import { ManyRuns } from "./many-runs.js";

const only = process.env.SEED === undefined ? null : Number(process.env.SEED);
const COUNT = Number(process.env.SIM_SEEDS ?? 20);
/** SIM_FROM=n begins there. */
const first = Number(process.env.SIM_FROM ?? 1);
const BATCH = 250;

describe("many runs with breakers and a campaign, on two engines that are killed", () => {
  const seeds = only === null ? Array.from({ length: COUNT }, (_, index) => index + first) : [only];
  for (let from = 0; from < seeds.length; from += BATCH) {
    const batch = seeds.slice(from, from + BATCH);
    it(`end rightly, seeds ${batch[0]} to ${batch.at(-1)}`, { tags: ["B14"], timeout: 600_000 }, async () => {
      for (const seed of batch) {
        const { runs, jobs, campaign, definition } = await new ManyRuns(seed).play();
        for (const { row, log } of runs) {
          const where = `seed ${seed}, run ${row.id}`;
          expect(findViolations(log, definition), where).toEqual([]);
          if (campaign === null) continue;
          const events = log.map(({ event }) => event);
          expect(aCampaignTouchesOnlyItsItems(campaign, events), where).toEqual([]);
        }
        for (const { run_id, job_id, state, visit, attempt } of campaign?.items ?? []) {
          const job = jobs.get(job_id)!;
          const where = `seed ${seed}, job ${job_id} of run ${run_id}, ${state}`;
          if (state === "good") expect(job.status, where).toBe("completed");
          if (state === "waiting") expect([job.visit, job.attempt_id], where).toEqual([visit, attempt]);
        }
        if (campaign?.state === "done")
          expect(campaign.items.some(({ state }) => state === "waiting" || state === "sent")).toBe(false);
      }
    });
  }
});
