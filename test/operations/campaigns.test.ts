import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { OutputOf } from "../../src/operations/client.js";
import { aCampaignTouchesOnlyItsItems } from "../support/invariants-campaign.js";
import { OperationBench } from "../support/operation-bench.js";

const bench = new OperationBench();

type Campaign = OutputOf<"list_campaigns">["items"][number];

/** Fails until the file is there. */
const failing = (name: string, ...keys: string[]): string =>
  `name: ${name}\n${keys.join("\n")}\nsteps:\n  call: { type: command, exec: 'test -e ${join(bench.folder, name)} || exit 3' }\n`;

const repair = (name: string): void => writeFileSync(join(bench.folder, name), "");

async function failedRuns(name: string, count: number, ...keys: string[]): Promise<number[]> {
  const runs: number[] = [];
  for (let n = 0; n < count; n += 1) runs.push((await bench.run(failing(name, ...keys))).run_id);
  return runs;
}

async function shown(campaign: number): Promise<Campaign> {
  return (await bench.call("list_campaigns", { campaign })).items[0]!;
}

async function over(campaign: number): Promise<Campaign> {
  for (;;) {
    const now = await shown(campaign);
    if (now.state === "done" || now.state === "stopped") return now;
    await delay(20);
  }
}

const statesOf = ({ results = [] }: Campaign): string[] => results.map(({ state }) => state);

test("a canary that fails again touches one job; after the repair all complete", {
  tags: ["B7"],
}, async () => {
  const runs = await failedRuns("outage", 7);
  const first = await bench.call("start_campaign", { workflow: "outage", reason: "try" });
  const stopped = await over(first.campaign!);
  expect(stopped).toMatchObject({ state: "stopped", why: "1 of 1 canaries failed again" });
  expect(statesOf(stopped)).toEqual(["bad", ...Array(6).fill("waiting")]);
  for (const run_id of runs.slice(1))
    expect((await bench.call("get_run", { run_id })).jobs[0]).toMatchObject({ attempt_id: 1 });
  repair("outage");
  const second = await bench.call("start_campaign", { workflow: "outage", reason: "repaired" });
  const done = await over(second.campaign!);
  expect(done).toMatchObject({ state: "done", why: null, counts: { good: 7, bad: 0 } });
  expect(done.results!.map(({ wave }) => wave)).toEqual([0, 1, 1, 2, 2, 2, 2]);
  for (const run_id of runs) expect((await bench.settled(run_id)).status).toBe("completed");
  const { store } = bench.context;
  const campaign = (await store.readCampaign(second.campaign!))!;
  for (const run_id of runs) {
    const events = (await store.readEvents(run_id)).map(({ event }) => event);
    expect(aCampaignTouchesOnlyItsItems(campaign, events)).toEqual([]);
  }
});

test("holds are decided with the ordinary command and its key, without a canary", {
  tags: ["B7"],
}, async () => {
  const runs = await failedRuns("held", 3, "unhandled: hold");
  const { campaign } = await bench.call("start_campaign", { workflow: "held", action: "skip", reason: "no" });
  expect(await over(campaign!)).toMatchObject({ state: "done", counts: { good: 3 } });
  for (const [place, run_id] of runs.entries()) {
    expect((await bench.settled(run_id)).status).toBe("completed");
    const log = await bench.context.store.readEvents(run_id, { types: ["hold.resolved"] });
    expect(log.map(({ event }) => event)).toMatchObject([
      { action: "skip", key: `campaign/${campaign}/${place + 1}`, by: "tester", reason: "no" },
    ]);
  }
});

test("one hint is for the steps of all items, and refused where none works again", async () => {
  const runs = await failedRuns("hinted", 2);
  const asked = { workflow: "hinted", reason: "look again", hint: "the mirror moved" };
  await expect(bench.call("start_campaign", { ...asked, action: "skip" })).rejects.toMatchObject({
    code: "HINT_REFUSED",
  });
  repair("hinted");
  const { campaign } = await bench.call("start_campaign", asked);
  expect(await over(campaign!)).toMatchObject({ state: "done", counts: { good: 2 } });
  for (const run_id of runs) {
    const log = await bench.context.store.readEvents(run_id, { types: ["jobs.retried"] });
    expect(log.map(({ event }) => event)).toMatchObject([{ hint: "the mirror moved", by: "tester" }]);
  }
});

test("a job that somebody has decided before its turn is overtaken, and the next one is the canary", {
  tags: ["B7"],
}, async () => {
  const [first, second] = (await failedRuns("taken", 2)) as [number, number];
  const { items } = await bench.call("start_campaign", { workflow: "taken", dry_run: true });
  await bench.call("control_run", { run_id: first, action: "retry_step", step_id: "call" } as never);
  expect((await bench.settled(first)).status).toBe("failed");
  repair("taken");
  const made = await bench.context.store.createCampaign({
    ...{ state: "running", why: null, created_at: 1, wave: 0, left_out: [] },
    plan: {
      ...{ action: "retry", canary: 1, factor: 2, per_minute: null, stop_at: 0.2, wait_ms: 60_000 },
      ...{ reason: "frozen before", by: "tester" },
    },
    items: items.map((item) => ({ ...item, visit: 1, attempt: 1, sent_at: null })),
  });
  const done = await over((made as { id: number }).id);
  expect(done.results!.map(({ state, wave }) => [state, wave])).toEqual([
    ["overtaken", 0],
    ["good", 0],
  ]);
  expect((await bench.call("get_run", { run_id: first })).status).toBe("failed");
  expect((await bench.settled(second)).status).toBe("completed");
});

test("a job is in one unfinished campaign; stopped, it is free for another", { tags: ["B7"] }, async () => {
  await failedRuns("twice", 2);
  const { campaign } = await bench.call("start_campaign", { workflow: "twice", rate: "1/min", canary: 2 });
  await expect(bench.call("start_campaign", { workflow: "twice" })).rejects.toMatchObject({
    code: "IN_CAMPAIGN",
  });
  expect(await bench.call("control_campaign", { campaign: campaign!, action: "stop" })).toMatchObject({
    state: "stopped",
    why: "stopped by tester",
  });
  await expect(
    bench.call("control_campaign", { campaign: campaign!, action: "resume" }),
  ).rejects.toMatchObject({ code: "CAMPAIGN_OVER" });
  repair("twice");
  const next = await bench.call("start_campaign", { workflow: "twice", since: "1h" });
  expect((await over(next.campaign!)).state).toBe("done");
});

test("a dry run lists the jobs and begins nothing; what no server runs is left out, and said", {
  tags: ["B7"],
}, async () => {
  const [run] = (await failedRuns("dry", 1)) as [number];
  const before = (await bench.call("list_campaigns", {})).items.length;
  const dry = await bench.call("start_campaign", { workflow: "dry", dry_run: true });
  expect(dry).toMatchObject({ campaign: null, dry_run: true, items: [{ run_id: run, kind: "failed" }] });
  expect((await bench.call("list_campaigns", {})).items).toHaveLength(before);
  expect(await bench.call("start_campaign", { workflow: "dry", action: "fail" })).toMatchObject({
    campaign: null,
    items: [],
    left_out: [{ because: "it is not on hold" }],
  });
  await expect(bench.call("start_campaign", {})).rejects.toMatchObject({ code: "INVALID_INPUT" });
  expect(await bench.call("start_campaign", { workflow: "nobody's" })).toMatchObject({ campaign: null });
});

test("a paused campaign begins nothing until it is resumed", { tags: ["B7"] }, async () => {
  await failedRuns("paused", 3);
  repair("paused");
  const { campaign } = await bench.call("start_campaign", { workflow: "paused", rate: "1/min" });
  await bench.call("control_campaign", { campaign: campaign!, action: "pause" });
  const paused = await shown(campaign!);
  expect(paused.state).toBe("paused");
  expect(paused.counts.waiting).toBeGreaterThanOrEqual(2);
  await bench.call("control_campaign", { campaign: campaign!, action: "stop" });
});

test("a failure that a transition has taken elsewhere, one that another step stands in for, or that of a repair, is no item", async () => {
  const gate = join(bench.folder, "routed-goes-on");
  const { run_id } = await bench.call("start_run", {
    source: `name: routed
steps:
  call: { exec: 'exit 3', on_fail: { edge: { to: back } } }
  back: { exec: 'while [ ! -e ${gate} ]; do sleep 0.05; done; exit 3' }
  mended: { exec: 'exit 3', on_fail: { run: [mend] } }
  mend: { exec: 'exit 3' }
  replaced: { exec: 'exit 3', on_fail: { edge: { to: stand-in, then: continue } } }
  stand-in: { exec: 'true' }
`,
  });
  const failed = async () => {
    const { jobs } = await bench.call("get_run", { run_id });
    return jobs.filter(({ status }) => status === "failed").map(({ step }) => step);
  };
  const found = async () => {
    const asked = { workflow: "routed", class: "application", reason: "again", dry_run: true } as const;
    return (await bench.call("start_campaign", asked)).items.map(({ step }) => step);
  };
  while ((await failed()).length < 4) await delay(20);
  expect(await failed()).toEqual(["call", "mended", "mend", "replaced"]);
  expect(await found()).toEqual(["mended"]);
  writeFileSync(gate, "");
  await bench.settled(run_id);
  expect(await found()).toEqual(["call", "back", "mended"]);
});
