import { expect, test } from "vitest";
import { failureOf } from "../../../test/support/error-record.js";
import type { JobRow, RunRow } from "../../core/model/rows.js";
import type { Append } from "../store.js";
import { createMemoryStore, type MemoryStore } from "./memory-store.js";

const OWNER = { host: "h", bootId: "b", pid: 1, processStart: "1", engine: "e" };

function firstAppend(runId: number, fence: number): Append {
  const options = { maxLoops: null, retryMax: null, failureRouting: true, only: null };
  const run: RunRow = {
    ...{
      id: runId,
      workflow_id: 1,
      workflow: "w",
      definition_hash: "x",
      status: "running",
      inputs: {},
      options,
    },
    ...{
      folder: "/",
      file: null,
      parent: null,
      managed: false,
      wanted: false,
      cause: null,
      error: null,
      created_at: 1,
      started_at: null,
      finished_at: null,
    },
  };
  const events = [{ at: 1, type: "run.started", data: '{"type":"run.started"}' }];
  return { runId, fence, firstSeq: 1, events, run, jobs: [], attempts: [], routes: [] };
}

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
  const job: JobRow = {
    ...{ id: 1, run_id: runId, step: "a", scope: "root", status: "ready", attempt_id: 0, visit: 1 },
    ...{ handled: false, due_at: null, error: failureOf({ message: "before" }), output: null },
    failure_handler_id: null,
    dead_letter: false,
  };
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
