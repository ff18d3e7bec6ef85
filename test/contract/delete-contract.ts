import { describe, expect, test } from "vitest";
import type { RunStatus } from "../../src/core/model/rows.js";
import type { Store } from "../../src/store/store.js";
import type { StoreUnderTest } from "./store-contract.js";
import {
  appendTo,
  attemptRow,
  checkpointRow,
  jobRow,
  mustAcquire,
  newWorkflow,
  OWNER,
  putRun,
  registerHandler,
  routeRow,
} from "./store-fixtures.js";

const PATCH = "d".repeat(64);

export function deleteContract(under: StoreUnderTest): void {
  deletedRuns(under);
  keptRuns(under);
}

/** A run with a row of every kind. */
async function putWholeRun(store: Store, status: RunStatus): Promise<number> {
  const handler = await registerHandler(store);
  const run = await putRun(store, { status, definition_hash: newWorkflow().hash }, (runId) => ({
    jobs: [jobRow(runId, 1, { failure_handler_id: handler }), jobRow(runId, 2)],
    attempts: [attemptRow(runId, 1, 1)],
    routes: [routeRow(runId, 1)],
    checkpoints: [checkpointRow(runId, 1)],
  }));
  await store.putPatch({ runId: run, diffHash: PATCH, bytes: Uint8Array.of(1, 2) });
  await store.putSnapshot({ runId: run, seq: 1, version: "v", sha256: "s", bytes: Uint8Array.of(3) });
  return run;
}

async function everythingOf(store: Store, runId: number): Promise<unknown> {
  return {
    run: await store.readRun(runId),
    events: await store.readEvents(runId),
    jobs: await store.readJobs(runId),
    attempts: await store.readAttempts(runId),
    routes: await store.readRoutes(runId),
    checkpoints: await store.readCheckpoints(runId),
    patch: await store.readPatch(runId, PATCH),
    snapshot: await store.readSnapshot(runId),
    lease: await store.readLease(runId),
    inbox: await store.readInbox([runId]),
  };
}

const NOTHING = {
  ...{
    run: null,
    events: [],
    jobs: [],
    attempts: [],
    routes: [],
    checkpoints: [],
    patch: null,
    snapshot: null,
  },
  ...{ lease: null, inbox: [] },
};

function deletedRuns(under: StoreUnderTest): void {
  const send = (runId: number, key: string) => under.store.sendCommand({ runId, key, command: "{}", at: 1 });

  describe("deleting a run", () => {
    test.each(["completed", "failed", "canceled"] as const)(
      "that is %s takes everything of it and nothing of another",
      async (status) => {
        const { store } = under;
        const [gone, other] = [await putWholeRun(store, status), await putWholeRun(store, status)];
        await send(gone, "k");
        await send(other, "k");
        const before = await everythingOf(store, other);
        expect(await store.deleteRun(gone)).toBe(true);
        expect(await everythingOf(store, gone)).toEqual(NOTHING);
        expect(await store.readJob(jobRow(gone, 1).id)).toBeNull();
        expect((await store.listRuns({})).map(({ id }) => id)).toEqual([other]);
        expect(await store.listJobs({ runId: gone })).toEqual([]);
        expect(await everythingOf(store, other)).toEqual(before);
        expect(await everythingOf(await under.reopen(), gone)).toEqual(NOTHING);
      },
    );

    test("takes its commands, answered or not, and their ids are not given again", async () => {
      const { store } = under;
      const runId = await putWholeRun(store, "completed");
      const [first, second] = [await send(runId, "k1"), await send(runId, "k2")];
      await store.answerCommand(first, "done");
      await store.deleteRun(runId);
      expect(await store.readAnswer(first)).toBeNull();
      await store.answerCommand(second, "too late");
      expect(await store.readAnswer(second)).toBeNull();
      expect(await send(runId, "k1")).toBeGreaterThan(second);
    });

    test("takes its lease with its tokens, and the id is not given again", async () => {
      const { store } = under;
      const runId = await putWholeRun(store, "completed");
      await store.deleteRun(runId);
      expect(await store.reserveRunId()).toBeGreaterThan(runId);
      await expect(store.commit([appendTo({ runId, fence: 1 }, 2)])).rejects.toMatchObject({
        code: "LEASE_LOST",
      });
      expect(await mustAcquire(store, runId)).toBe(1);
    });

    test("leaves its workflow, definition and failure handlers", async () => {
      const { store } = under;
      const runId = await putWholeRun(store, "completed");
      const [workflows, handlers] = [await store.listWorkflows({}), await store.listFailureHandlers()];
      await store.deleteRun(runId);
      expect(await store.listWorkflows({})).toEqual(workflows);
      expect(await store.listFailureHandlers()).toEqual(handlers);
      expect(handlers).toHaveLength(1);
      expect(await store.readDefinition(newWorkflow().hash)).toBe(newWorkflow().definition);
    });

    test("is done once", async () => {
      const runId = await putWholeRun(under.store, "failed");
      const answers = await Promise.all([1, 2, 3].map(() => under.store.deleteRun(runId)));
      expect(answers.filter(Boolean)).toEqual([true]);
      expect(await under.store.deleteRun(runId)).toBe(false);
    });
  });
}

function keptRuns(under: StoreUnderTest): void {
  describe("a run is not deleted", () => {
    test.each(["pending", "running", "paused", "held"] as const)("while it is %s", async (status) => {
      const runId = await putWholeRun(under.store, status);
      const before = await everythingOf(under.store, runId);
      expect(await under.store.deleteRun(runId)).toBe(false);
      expect(await everythingOf(under.store, runId)).toEqual(before);
    });

    test("while its lease was not given back, even one that has run out", async () => {
      const { store } = under;
      const runId = await putWholeRun(store, "completed");
      const request = { runId, owner: OWNER, now: 0, expiresAt: 1 };
      expect(await store.acquireLease(request)).toMatchObject({ granted: true, fence: 2 });
      const before = await everythingOf(store, runId);
      expect(await store.deleteRun(runId)).toBe(false);
      expect(await everythingOf(store, runId)).toEqual(before);
      await store.releaseLease(runId, 2);
      expect(await store.deleteRun(runId)).toBe(true);
    });

    test("where there is none, be its id reserved or not", async () => {
      expect(await under.store.deleteRun(404)).toBe(false);
      expect(await under.store.deleteRun(await under.store.reserveRunId())).toBe(false);
    });
  });
}
