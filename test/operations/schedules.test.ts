import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { storedText } from "../../src/core/model/stored-definition.js";
import { loadDefinition } from "../../src/file/load.js";
import type { OutputOf } from "../../src/operations/client.js";
import { ScheduleKeeper } from "../../src/operations/schedules/schedule-keeper.js";
import { ManualClock } from "../support/manual-clock.js";
import { callIn, OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();
const EVERY_SECOND = '"* * * * * *"';
const NEVER_SOON = '"0 0 29 2 *"';

type Schedule = OutputOf<"list_schedules">["items"][number];

const textOf = (name: string, schedule: string, more = ""): string =>
  `name: ${name}\ninputs: { target: staging }\nschedule: ${schedule}\n${more}\nsteps: { a: { type: noop } }\n`.replace(
    "target: staging",
    "target: { type: string, default: staging }",
  );

async function publish(name: string, schedule: string, more = ""): Promise<void> {
  await bench.call("save_draft", { name, source: textOf(name, schedule, more) });
  await bench.call("publish_workflow", { name });
}

async function shown(workflow: string): Promise<readonly Schedule[]> {
  return (await bench.call("list_schedules", { workflow })).items;
}

async function runsOf(workflow: string): Promise<string[]> {
  const runs = await bench.context.store.listRuns({ workflow });
  return runs.flatMap(({ cause }) => cause ?? []).sort();
}

async function until(isThere: () => Promise<boolean>): Promise<void> {
  while (!(await isThere())) await delay(50);
}

test("a published workflow runs at each tick with the inputs of its schedule, until it is paused", {
  tags: ["K5"],
}, async () => {
  await publish("often", `{ id: s, cron: ${EVERY_SECOND}, overlap: allow, inputs: { target: live } }`);
  await until(async () => (await runsOf("often")).length >= 2);
  const paused = await bench.call("control_schedule", {
    workflow: "often",
    id: "s",
    action: "pause",
    reason: "enough",
  });
  expect(paused).toMatchObject({ next_at: null, paused: { by: "tester", reason: "enough" } });
  const causes = await runsOf("often");
  for (const cause of causes) expect(cause).toMatch(/^schedule\/often\/s\/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect(new Set(causes).size).toBe(causes.length);
  const [run] = await bench.context.store.listRuns({ workflow: "often", limit: 1 });
  expect(run).toMatchObject({ inputs: { target: "live" }, managed: true });
  expect((await bench.settled(run!.id)).status).toBe("completed");
  // Twice is once.
  expect(
    await bench.call("control_schedule", { workflow: "often", id: "s", action: "pause", reason: "x" }),
  ).toEqual(paused);
});

test("publishing replaces a schedule by its id and keeps its pause; one that the file no longer has is gone", {
  tags: ["K5"],
}, async () => {
  await publish("kept", `[{ id: a, cron: ${NEVER_SOON} }, { id: b, cron: ${NEVER_SOON} }]`);
  await bench.call("control_schedule", { workflow: "kept", id: "a", action: "pause", reason: "later" });
  await publish(
    "kept",
    `[{ id: a, cron: "0 4 * * *", timezone: Europe/Berlin }, { id: c, cron: ${NEVER_SOON} }]`,
  );
  expect(await shown("kept")).toMatchObject([
    {
      id: "a",
      version: 2,
      cron: "0 4 * * *",
      timezone: "Europe/Berlin",
      paused: { reason: "later" },
      next_at: null,
    },
    { id: "c", version: 2, paused: null, next_at: expect.stringContaining("-02-29T00:00:00.000Z") },
  ]);
  const gone = { workflow: "kept", id: "b", action: "pause", reason: "" } as const;
  expect(await refusalOf(bench.call("control_schedule", gone))).toBe("SCHEDULE_NOT_FOUND");
  const resumed = await bench.call("control_schedule", {
    workflow: "kept",
    id: "a",
    action: "resume",
    reason: "",
  });
  expect(resumed).toMatchObject({ paused: null, next_at: expect.any(String) });
});

test("run now starts one at once, also while it is paused; the same key is the same run", {
  tags: ["K5"],
}, async () => {
  await publish("asked", `{ cron: ${NEVER_SOON}, inputs: { target: hand } }`);
  const asked = { workflow: "asked", id: "default" };
  await bench.call("control_schedule", { ...asked, action: "pause", reason: "" });
  const first = await bench.call("run_schedule", { ...asked, key: "k1" });
  expect(first).toMatchObject({ workflow: "asked", version: 1 });
  expect((await shown("asked"))[0]!.last).toEqual({ tick: expect.any(String), run_id: first.run_id });
  expect((await bench.call("run_schedule", { ...asked, key: "k1" })).run_id).toBe(first.run_id);
  const second = await bench.call("run_schedule", asked);
  expect(second.run_id).not.toBe(first.run_id);
  // Whoever asks once more for the first one does not make it the last.
  await bench.call("run_schedule", { ...asked, key: "k1" });
  expect((await shown("asked"))[0]!.last!.run_id).toBe(second.run_id);
  expect(await bench.context.store.readRun(first.run_id)).toMatchObject({ inputs: { target: "hand" } });
  expect(await refusalOf(bench.call("run_schedule", { workflow: "asked", id: "x" }))).toBe(
    "SCHEDULE_NOT_FOUND",
  );
  expect(await refusalOf(callIn(bench.withoutRunner, "run_schedule", asked))).toBe("NO_RUNNER");
});

test("a run that cannot be created says why", { tags: ["K5"] }, async () => {
  // Without a folder of its own a published workflow cannot find the file of a child.
  const child = "steps: { a: { type: workflow, file: child.yaml } }";
  const source = `name: childless\nschedule: { cron: ${EVERY_SECOND} }\n${child}\n`;
  await bench.call("save_draft", { name: "childless", source });
  await bench.call("publish_workflow", { name: "childless" });
  await until(async () => (await shown("childless"))[0]!.refused !== null);
  expect(await shown("childless")).toMatchObject([{ refused: { code: "FOLDER_NEEDED" }, last: null }]);
  const asked = { workflow: "childless", id: "default" };
  await bench.call("control_schedule", { ...asked, action: "pause", reason: "" });
});

test("a schedule counts though whoever published it was killed before it was on record", {
  tags: ["K4"],
}, async () => {
  const source = textOf("orphan", `{ cron: ${NEVER_SOON} }`);
  const loaded = loadDefinition(source, {
    file: "orphan.yaml",
    checkExpression: () => null,
    checkTemplate: () => null,
  });
  if (!loaded.ok) throw new Error("invalid");
  const definition = storedText(loaded.definition);
  const { store } = bench.context;
  const version = {
    name: "orphan",
    hash: "orphan-1",
    definition,
    file: null,
    source,
    at: 1,
    failureHandlers: [],
  };
  await store.registerWorkflow(version);
  expect(await shown("orphan")).toEqual([]);
  await new ScheduleKeeper({
    store,
    clock: new ManualClock(Date.now()),
    start: async () => null,
    tell: () => {},
  }).work();
  expect(await shown("orphan")).toMatchObject([{ workflow: "orphan", id: "default", version: 1 }]);
});

test("a workflow that only ran has no schedule on any server", { tags: ["K5"] }, async () => {
  await bench.run(textOf("only-run", `{ cron: ${EVERY_SECOND} }`));
  expect(await shown("only-run")).toEqual([]);
  expect(await runsOf("only-run")).toEqual([]);
});
