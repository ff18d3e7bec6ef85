import { expect, test } from "vitest";
import { appendTo, jobRow } from "../../../test/contract/store-fixtures.js";
import { failureOf } from "../../../test/support/error-record.js";
import type { Append } from "../store.js";
import { createMemoryStore, type MemoryStore } from "./memory-store.js";

const OWNER = { host: "h", bootId: "b", pid: 1, processStart: "1", engine: "e" };

const firstAppend = (runId: number, fence: number): Append => appendTo({ runId, fence }, 1);

async function takeRun(store: MemoryStore): Promise<{ runId: number; fence: number }> {
  const runId = await store.reserveRunId();
  const taken = await store.acquireLease({ runId, owner: OWNER, now: 0, expiresAt: 10 });
  if (!taken.granted) throw new Error("the lease was refused");
  return { runId, fence: taken.fence };
}

test("a commit that is told to fail writes nothing, and only that one fails", async () => {
  const store = createMemoryStore();
  const { runId, fence } = await takeRun(store);
  store.failNextCommit(new Error("disk"), { applied: false });
  await expect(store.commit([firstAppend(runId, fence)])).rejects.toThrow("disk");
  expect(await store.readEvents(runId)).toEqual([]);
  await store.commit([firstAppend(runId, fence)]);
  expect(await store.readEvents(runId)).toHaveLength(1);
});

test("a commit whose answer is lost is written all the same", async () => {
  const store = createMemoryStore();
  const { runId, fence } = await takeRun(store);
  store.failNextCommit(new Error("answer lost"), { applied: true });
  await expect(store.commit([firstAppend(runId, fence)])).rejects.toThrow("answer lost");
  expect(await store.readEvents(runId)).toHaveLength(1);
});

test("nothing that was put in or read out reaches the data inside", async () => {
  const store = createMemoryStore();
  const { runId, fence } = await takeRun(store);
  const job = jobRow(runId, 1, { error: failureOf({ message: "before" }) });
  await store.commit([{ ...firstAppend(runId, fence), jobs: [job] }]);
  Object.assign(job.error ?? {}, { message: "changed after the commit" });
  const [read] = await store.readJobs(runId);
  Object.assign(read?.error ?? {}, { message: "changed after the read" });
  expect(await store.readJobs(runId)).toMatchObject([{ error: { message: "before" } }]);
  const lease = await store.readLease(runId);
  Object.assign(lease?.owner ?? {}, { pid: 99 });
  expect(await store.readLease(runId)).toMatchObject({ owner: { pid: 1 } });
});

test("every answer is there before the next turn of the event loop, so that a simulation can replay", async () => {
  const store = createMemoryStore();
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  const { runId, fence } = await takeRun(store);
  await store.commit([firstAppend(runId, fence)]);
  await store.readEvents(runId);
  await store.close();
  expect(turned).toBe(false);
});
