import { expect, it } from "vitest";
import type { RunRow } from "../../core/model/rows.js";
import type { Store } from "../../store/store.js";
import { NeededRuns } from "./plan-retention.js";

const store = (unfinished: readonly number[], forks: ReadonlyMap<number, number>): Store =>
  ({
    listRuns: async () => unfinished.map((id) => ({ id }) as RunRow),
    readEvents: async (id: number) =>
      forks.has(id) ? [{ seq: 2, at: 1, event: { type: "run.forked", from: forks.get(id) } }] : [],
    listCampaigns: async () => [{ id: 4, items: [{ run_id: 40 }] }],
  }) as unknown as Store;

it("a run is needed by the parent, the forks and the campaign that are not over", async () => {
  const needed = await NeededRuns.read(
    store(
      [7, 9],
      new Map([
        [9, 5],
        [5, 3],
      ]),
    ),
  );
  const why = (id: number, parent: number | null = null) => needed.why({ id, parent });
  expect(why(20, 7)).toBe("its parent, run 7, is not over");
  expect(why(20, 6)).toBeNull();
  expect([why(5), why(3)]).toEqual(Array(2).fill("run 9, which is not over, was made from it"));
  expect(why(40)).toBe("campaign 4 is not over");
  expect(why(41)).toBeNull();
});
