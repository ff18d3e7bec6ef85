import { describe, expect, test } from "vitest";
import type { NewCampaign } from "../../src/store/campaign-rows.js";
import type { StoreUnderTest } from "./store-contract.js";

function campaign(...jobs: number[]): NewCampaign {
  return {
    ...{ state: "running", why: null, created_at: 7, wave: 0 },
    plan: {
      ...{ action: "retry", canary: 1, factor: 2, per_minute: null, stop_at: 0.2, wait_ms: 1, by: "ana" },
      reason: "だるま",
    },
    items: jobs.map((job_id) => ({
      ...{ run_id: 1, job_id, visit: 1, attempt: 2, kind: "failed", state: "waiting", code: null },
      ...{ wave: null, sent_at: null },
    })),
    left_out: [{ job_id: 9, because: "it is not run by a server" }],
  };
}

export function campaignContract(under: StoreUnderTest): void {
  describe("a campaign", () => {
    test("is kept as it was made, also when the store is opened again", async () => {
      const made = await under.store.createCampaign(campaign(1, 2));
      const again = await under.reopen();
      const whole = { ...campaign(1, 2), id: (made as { id: number }).id, revision: 1 };
      expect(await again.readCampaign(whole.id)).toEqual(whole);
      expect(await again.listCampaigns({ limit: 10 })).toEqual([whole]);
      expect(await again.readCampaign(whole.id + 1)).toBeNull();
    });

    test("has each of its jobs to itself until it is over", async () => {
      const { store } = under;
      const { id } = (await store.createCampaign(campaign(1, 2))) as { id: number };
      expect(await store.createCampaign(campaign(3, 2))).toEqual({ taken: 2 });
      const other = await store.createCampaign(campaign(3));
      expect(other).toHaveProperty("id");
      const first = (await store.readCampaign(id))!;
      expect(await store.writeCampaign({ ...first, state: "paused" })).toBe(true);
      expect(await store.createCampaign(campaign(1))).toEqual({ taken: 1 });
      expect(await store.writeCampaign({ ...first, revision: 2, state: "stopped", why: "no" })).toBe(true);
      expect(await store.createCampaign(campaign(1))).toHaveProperty("id");
      expect((await store.listCampaigns({ unfinished: true, limit: 10 })).map(({ state }) => state)).toEqual([
        "running",
        "running",
      ]);
    });

    test("is listed newest first, and has the number after the newest", async () => {
      const { store } = under;
      for (let job = 1; job <= 11; job += 1)
        expect(await store.createCampaign(campaign(job))).toEqual({ id: job });
      const ids = async (filter: { unfinished?: true; limit: number }) =>
        (await store.listCampaigns(filter)).map(({ id }) => id);
      expect(await ids({ limit: 100 })).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
      const newest = (await store.readCampaign(11))!;
      await store.writeCampaign({ ...newest, state: "stopped" });
      expect(await ids({ unfinished: true, limit: 2 })).toEqual([10, 9]);
      expect(await ids({ limit: 2 })).toEqual([11, 10]);
    });

    test("is made by one alone of those who want the same job at once", async () => {
      const made = await Promise.all(
        Array.from({ length: 5 }, () => under.store.createCampaign(campaign(1))),
      );
      expect(made.filter((each) => "id" in each)).toHaveLength(1);
      expect(made.filter((each) => "taken" in each)).toHaveLength(4);
    });

    test("is changed by one alone of those who read it at once", async () => {
      const { store } = under;
      const { id } = (await store.createCampaign(campaign(1))) as { id: number };
      const read = (await store.readCampaign(id))!;
      const written = await Promise.all([1, 2, 3].map((wave) => store.writeCampaign({ ...read, wave })));
      expect(written.filter(Boolean)).toHaveLength(1);
      const wave = written.indexOf(true) + 1;
      expect(await store.readCampaign(id)).toEqual({ ...read, wave, revision: 2 });
    });
  });
}
