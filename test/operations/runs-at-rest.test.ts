import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { FINAL_STATUSES, type RetentionRule } from "../../src/file/settings/retention.js";
import type { OutputOf } from "../../src/operations/client.js";
import { runLogFolder } from "../../src/run/worker/attempt-paths.js";
import { callIn, OperationBench } from "../support/operation-bench.js";

/** What one feature does to runs that another keeps from going on. */
const bench = new OperationBench();
const DAY_MS = 86_400_000;
const file = (name: string): string => join(bench.folder, name);
const appear = (name: string): void => writeFileSync(file(name), "");

const held = (name: string, group: string): string =>
  `name: ${name}\nunhandled: hold\nconcurrency: { group: ${group} }\nsteps: { a: { exec: 'echo no; exit 3' } }\n`;

async function start(source: string): Promise<number> {
  return (await bench.call("start_run", { source } as never)).run_id;
}

async function letFail(run_id: number): Promise<void> {
  const [job] = (await bench.call("get_run", { run_id })).jobs;
  await bench.call("update_job", { job_id: job!.id, status: "failed", reason: "no" } as never);
}

test("doctor names the run that is held while others wait for its place", { tags: ["D4"] }, async () => {
  const groups = async () =>
    (await bench.call("check_health", {})).checks.filter(({ name }) => name === "groups");
  const first = (await bench.run(held("stuck", "lane"))).run_id;
  expect(await groups()).toMatchObject([{ status: "ok" }]);
  const second = await start(held("stuck", "lane"));
  await bench.until(second, ({ waits_for }) => waits_for?.position === 1);
  expect(await groups()).toEqual([
    {
      name: "groups",
      status: "warning",
      message: `1 run waits in the group lane: run ${first} (held) has the place`,
      fix: `Decide what it holds (\`daruma holds ${first}\`), or cancel it (\`daruma cancel ${first}\`): only its end frees the place.`,
    },
  ]);
  await letFail(first);
  await bench.until(second, ({ status }) => status === "held");
  expect(await groups()).toMatchObject([{ status: "ok" }]);
  await bench.call("control_run", { run_id: second, action: "cancel", wait_ms: 10_000 });
});

test("retention leaves what is queued, held or being undone alone, and takes it once it is over", {
  tags: ["D3"],
}, async () => {
  const undoing = `name: undoing\nsteps:
  a: { exec: echo made, undo: back }
  b: { exec: 'exit 3', depends_on: [a] }
  back: { exec: 'while ! test -e ${file("undo")}; do sleep 0.05; done' }\n`;
  const holds = (await bench.run(held("kept", "kept"))).run_id;
  const queued = await start(held("kept", "kept"));
  const undoes = await start(undoing);
  await bench.until(undoes, ({ jobs }) =>
    jobs.some(({ step, status }) => step === "back" && status === "running"),
  );
  const all: RetentionRule = { olderThanMs: null, keepLast: 0, maxBytes: null, status: FINAL_STATUSES };
  const context = {
    ...bench.context,
    now: () => Date.now() + 30 * DAY_MS,
    retention: () => ({ runs: all, logs: all, artifacts: all }),
  };
  const touched = async (): Promise<number[]> => {
    const { removed, logs, artifacts } = await callIn(context, "prune_runs", {});
    return [...removed, ...logs, ...artifacts].map(({ run_id }) => run_id);
  };
  const runs = [holds, queued, undoes];
  expect((await touched()).filter((id) => runs.includes(id))).toEqual([]);
  for (const run_id of runs) expect((await bench.call("get_run", { run_id })).run_id).toBe(run_id);
  for (const run_id of [holds, undoes])
    expect(existsSync(runLogFolder(join(bench.folder, "out"), run_id))).toBe(true);
  appear("undo");
  await bench.until(undoes, ({ status }) => status === "failed");
  await letFail(holds);
  await bench.until(queued, ({ status }) => status === "held");
  expect((await touched()).filter((id) => runs.includes(id)).sort()).toEqual([holds, undoes].sort());
  expect((await bench.call("get_run", { run_id: queued })).status).toBe("held");
  await bench.call("control_run", { run_id: queued, action: "cancel", wait_ms: 10_000 });
});

type Campaign = OutputOf<"list_campaigns">["items"][number];

async function until(campaign: number, isThere: (now: Campaign) => boolean): Promise<Campaign> {
  for (;;) {
    const now = (await bench.call("list_campaigns", { campaign })).items[0]!;
    if (isThere(now)) return now;
    await delay(20);
  }
}

const isOver = ({ state }: Campaign): boolean => state === "done" || state === "stopped";
const outcomes = ({ results = [] }: Campaign) => results.map(({ state, code, wave }) => [state, code, wave]);

test("a campaign says that a run was undone, and the next item is its canary", {
  tags: ["B7", "U8"],
}, async () => {
  const failing = `exec: 'test -e ${file("mixed")}'`;
  const undone = await bench.run(
    `name: mixed\nsteps:\n  a: { type: noop, undo: back }\n  call: { ${failing}, depends_on: [a] }\n  back: { type: noop }\n`,
  );
  const plain = await bench.run(`name: mixed\nsteps: { call: { ${failing} } }\n`);
  expect([undone.status, plain.status]).toEqual(["failed", "failed"]);
  appear("mixed");
  const { campaign } = await bench.call("start_campaign", { workflow: "mixed", reason: "repaired" });
  const done = await until(campaign!, isOver);
  expect([done.state, outcomes(done)]).toEqual([
    "done",
    [
      ["refused", "RUN_UNDONE", 0],
      ["good", null, 0],
    ],
  ]);
  expect((await bench.call("get_run", { run_id: undone.run_id })).status).toBe("failed");
});

test("a campaign asks again while the group of a run is busy", { tags: ["B7", "G1"] }, async () => {
  const failed = await bench.run(
    `name: busy\nconcurrency: { group: dock }\nsteps: { call: { exec: 'test -e ${file("busy")}' } }\n`,
  );
  expect(failed.status).toBe("failed");
  const holder = (await bench.run(held("other", "dock"))).run_id;
  appear("busy");
  const { campaign } = await bench.call("start_campaign", { workflow: "busy", reason: "repaired" });
  await until(campaign!, (now) => outcomes(now)[0]?.[0] === "sent");
  // Asked more than once by now, and refused each time.
  for (let n = 0; n < 3; n += 1) {
    await delay(100);
    expect(outcomes(await until(campaign!, () => true))).toEqual([["sent", null, 0]]);
  }
  expect((await bench.call("get_run", { run_id: failed.run_id })).status).toBe("failed");
  await letFail(holder);
  const done = await until(campaign!, isOver);
  expect([done.state, outcomes(done)]).toEqual(["done", [["good", null, 0]]]);
  expect((await bench.settled(failed.run_id)).status).toBe("completed");
});

test("a fork does not undo what it took over", { tags: ["U2"] }, async () => {
  const source = `name: again\nsteps:
  a: { type: noop, undo: undo-a }
  b: { type: noop, undo: undo-b, depends_on: [a] }
  c: { exec: 'test ! -e ${file("again")}', depends_on: [b] }
  undo-a: { type: noop }
  undo-b: { type: noop }\n`;
  const first = await bench.run(source);
  expect(first.status).toBe("completed");
  appear("again");
  const { run_id } = await bench.call("fork_run", { run_id: first.run_id, step: "b" } as never);
  const fork = await bench.settled(run_id);
  expect(fork.status).toBe("failed");
  expect(fork.undone).toMatchObject({ done: [{ step: "b", by: "undo-b" }], left: [] });
});
