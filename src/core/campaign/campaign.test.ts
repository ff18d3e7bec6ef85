import { expect, test } from "vitest";
import {
  advanceCampaign,
  type Campaign,
  type CampaignItem,
  isUntouched,
  itemsToSend,
  judgeItem,
  withItem,
} from "./campaign.js";

function campaign(count: number, plan: Partial<Campaign["plan"]> = {}): Campaign {
  const item = (n: number): CampaignItem => ({
    ...{ run_id: n, job_id: n * 10_000_000 + 1, visit: 1, attempt: 1, kind: "failed", state: "waiting" },
    ...{ code: null, wave: null, sent_at: null },
  });
  return {
    ...{ id: 1, revision: 1, state: "running", why: null, created_at: 0, wave: 0, left_out: [] },
    plan: {
      ...{ action: "retry", canary: 1, factor: 2, per_minute: null, stop_at: 0.2, wait_ms: 1_000 },
      ...{ reason: "fixed", by: "ana", ...plan },
    },
    items: Array.from({ length: count }, (_, n) => item(n + 1)),
  };
}

/** One round: send what may be sent, and let each end as told. */
function round(before: Campaign, endOf: (place: number) => CampaignItem["state"], now = 0): Campaign {
  let after = before;
  for (const place of itemsToSend(before, now))
    after = withItem(after, place, { state: endOf(place), wave: before.wave, sent_at: now });
  return advanceCampaign(after);
}

const counts = (of: Campaign): number[] => {
  const states = of.items.map(({ state }) => state);
  return ["waiting", "good", "bad"].map((state) => states.filter((each) => each === state).length);
};

test("one canary first, then waves of 2, 4 and 8, to the end", { tags: ["B7"] }, () => {
  let now = campaign(15);
  const sizes: number[] = [];
  while (now.state === "running") {
    sizes.push(itemsToSend(now, 0).length);
    now = round(now, () => "good");
  }
  expect(sizes).toEqual([1, 2, 4, 8]);
  expect(now).toMatchObject({ state: "done", why: null });
});

test("a canary that fails again stops it, and the rest is not touched", () => {
  const after = round(campaign(500), () => "bad");
  expect(after).toMatchObject({ state: "stopped", why: "1 of 1 canaries failed again" });
  expect(counts(after)).toEqual([499, 0, 1]);
  expect(itemsToSend(after, 0)).toEqual([]);
});

test("what is overtaken or refused is no canary: the next item is", () => {
  let now = round(campaign(5), () => "overtaken");
  expect(now).toMatchObject({ state: "running", wave: 0 });
  now = round(now, () => "refused");
  expect(now).toMatchObject({ wave: 0 });
  expect(itemsToSend(now, 0)).toEqual([2]);
  expect(round(now, () => "good")).toMatchObject({ wave: 1 });
});

test("a wave with more bad items than stop_at stops it; with just as many it goes on", () => {
  const plan = { canary: 5, factor: 1, stop_at: 0.2 };
  const first = round(campaign(20, plan), () => "good");
  expect(round(first, (place) => (place === 5 ? "bad" : "good"))).toMatchObject({
    state: "running",
    wave: 2,
  });
  expect(round(first, (place) => (place < 7 ? "bad" : "good"))).toMatchObject({
    state: "stopped",
    why: "2 of 5 in wave 1 failed again (stop at 20 %)",
  });
});

test("a wave waits for the items that have not ended", () => {
  const sent = round(campaign(3), () => "sent");
  expect(sent).toMatchObject({ state: "running", wave: 0 });
  expect(itemsToSend(sent, 0)).toEqual([]);
});

test("no more are sent in a minute than the rate allows", () => {
  const start = campaign(10, { canary: 10, per_minute: 3 });
  const first = round(start, () => "good", 0);
  expect(counts(first)).toEqual([7, 3, 0]);
  expect(itemsToSend(first, 59_999)).toEqual([]);
  expect(itemsToSend(first, 60_000)).toHaveLength(3);
});

test("a paused or stopped one sends nothing and stays where it is", () => {
  const paused = { ...campaign(3), state: "paused" } as const;
  expect(itemsToSend(paused, 0)).toEqual([]);
  expect(advanceCampaign(paused)).toBe(paused);
});

test("decisions that try nothing have no canary and never stop", () => {
  const all = campaign(4, { action: "skip" });
  expect(itemsToSend(all, 0)).toHaveLength(4);
  expect(round(all, () => "good")).toMatchObject({ state: "done" });
});

const job = { visit: 2, attempt_id: 2, handled: false, isRunOver: false };
const sent: CampaignItem = { ...campaign(1).items[0]!, state: "sent", wave: 0, sent_at: 0 };

test.each([
  ["completed", {}, "good"],
  ["failed", { handled: true }, "good"],
  ["failed", { isRunOver: true }, "bad"],
  ["failed", {}, null],
  ["held", {}, "bad"],
  ["canceled", {}, "overtaken"],
  ["waiting", {}, null],
  ["running", {}, null],
] as const)("a job that is %s %j makes an item %s", (status, more, state) => {
  expect(judgeItem(sent, { ...job, status, ...more }, campaign(1).plan, 10)?.state ?? null).toBe(state);
});

test("an item that has not ended in time is bad, and one whose run is gone is nobody's fault", () => {
  expect(judgeItem(sent, { ...job, status: "waiting" }, campaign(1).plan, 1_000)).toMatchObject({
    state: "bad",
    code: "WAIT_OVER",
  });
  expect(judgeItem(sent, null, campaign(1).plan, 10)).toMatchObject({ state: "overtaken" });
});

test.each([
  [{}, true],
  [{ status: "held" }, true],
  [{ visit: 2 }, false],
  [{ attempt_id: 2 }, false],
  [{ status: "running" }, false],
  [{ status: "canceled" }, false],
])("a job is as it was when the campaign began, with %j: %s", (changes, expected) => {
  const [item] = campaign(1).items;
  const job = { status: "failed", visit: 1, attempt_id: 1, handled: false, isRunOver: true };
  expect(isUntouched(item!, { ...job, ...changes })).toBe(expected);
  expect(isUntouched(item!, null)).toBe(false);
});
