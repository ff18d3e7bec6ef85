import { expect, it } from "vitest";
import type { Context } from "../../src/operations/context.js";
import type { RunDocument } from "../../src/operations/exchange/run-document.js";
import { loadRun } from "../../src/run/engine/load-run.js";
import { copyRun, packCopy } from "../../src/run/engine/snapshot/snapshots.js";
import { callIn, OperationBench } from "../support/operation-bench.js";
import { snapshotRun } from "../support/run-snapshot.js";

const bench = new OperationBench();
const STORY = `name: story
steps:
  list: { type: script, content: "return ['x', 'y']", forEach: true }
  each: { type: noop, depends_on: [list] }
  sum: { type: noop, depends_on: [each], fanout: reduce }
  last: { type: command, exec: "exit 3", depends_on: [sum] }
`;

/** A run that is over, with a snapshot from the middle of it. */
async function runWithSnapshot(): Promise<number> {
  const { store } = bench.context;
  const { run_id } = await bench.run(STORY);
  const seq = Math.floor((await store.readEvents(run_id)).length / 2);
  const { run } = await loadRun(store, run_id, { beforeSeq: seq + 1 });
  await store.putSnapshot(await packCopy(copyRun(run)!, run_id, seq));
  expect((await loadRun(store, run_id)).snapshotSeq).toBe(seq);
  return run_id;
}

it("an exported run has no snapshot in it, and an imported one has none", async () => {
  const { store } = bench.context;
  const run_id = await runWithSnapshot();
  const document = (await bench.call("export_run", { run_id })) as unknown as RunDocument;
  const sha256 = (await store.readSnapshot(run_id))!.sha256;
  expect(JSON.stringify(document)).not.toMatch(new RegExp(`snapshot|${sha256}`));
  const imported = await bench.call("import_run", { document: document as never });
  expect(await store.readSnapshot(imported.run_id)).toBeNull();
  const { run } = await loadRun(store, imported.run_id);
  expect(run.jobs.map(({ status }) => status)).toEqual(
    (await loadRun(store, run_id)).run.jobs.map(({ status }) => status),
  );
});

it("a fork takes over what its run has come to, and begins without a snapshot", async () => {
  const { store } = bench.context;
  const run_id = await runWithSnapshot();
  const fork = await bench.call("fork_run", { run_id, step: "last", reason: "again" });
  await bench.settled(fork.run_id);
  expect(await store.readSnapshot(fork.run_id)).toBeNull();
  const { run } = await loadRun(store, fork.run_id);
  expect(run.jobs.filter(({ attempt }) => attempt > 0).map(({ step }) => step.definition.id)).toEqual([
    "last",
  ]);
});

it("a retried run goes on from its snapshot, to what its whole log tells", async () => {
  const { store } = bench.context;
  const run_id = await runWithSnapshot();
  const job_id = (await loadRun(store, run_id)).run.jobs.find(
    ({ step }) => step.definition.id === "last",
  )!.id;
  await bench.call("control_run", { run_id, action: "retry_step", step_id: "last", reason: "again" });
  await bench.settled(run_id);
  const { run, snapshotSeq } = await loadRun(store, run_id);
  expect(snapshotSeq).toBeGreaterThan(0);
  const whole = await loadRun({ ...store, readSnapshot: async () => null }, run_id);
  expect(snapshotRun(run)).toEqual(snapshotRun(whole.run));
  expect(run.jobs.find(({ id }) => id === job_id)).toMatchObject({ status: "failed", attempt: 2 });
});

it("a pruned run takes its snapshot with it", async () => {
  const run_id = await runWithSnapshot();
  const later: Context = { ...bench.context, now: () => Date.now() + 864e5 };
  await callIn(later, "prune_runs", { older_than: "1h" });
  expect(await bench.context.store.readRun(run_id)).toBeNull();
  expect(await bench.context.store.readSnapshot(run_id)).toBeNull();
});
