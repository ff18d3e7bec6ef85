import { describe, expect, test } from "vitest";
import type { Append } from "../../src/store/store.js";
import { TABLES } from "../../src/store/tables.js";
import { failureOf } from "../support/error-record.js";
import type { StoreUnderTest } from "./store-contract.js";
import {
  appendTo,
  attemptRow,
  canceledEvent,
  checkpointRow,
  FAILURE,
  jobRow,
  mustAcquire,
  nextVersion,
  RIVAL,
  registerHandler,
  routeRow,
  runRow,
  takeRun,
} from "./store-fixtures.js";

export function commitContract(under: StoreUnderTest): void {
  acceptedCommits(under);
  refusedCommits(under);
  atomicCommits(under);
}

function acceptedCommits(under: StoreUnderTest): void {
  describe("a commit", () => {
    test("keeps every column of every row as it was given", { tags: ["M28"] }, async () => {
      const { store } = under;
      const taken = await takeRun(store);
      const { runId } = taken;
      const handler = await registerHandler(store);
      const run = runRow(runId, {
        status: "failed",
        parent: { run_id: 3, job_id: 30_000_007 },
        managed: true,
        wanted: true,
        wanted_at: 1_800_000_000_001,
        error: failureOf({ code: "STALLED", message: "stuck" }),
        started_at: 5,
        finished_at: 6,
      });
      const jobs = [
        jobRow(runId, 1, { status: "failed", attempt_id: 2, visit: 3, handled: true, error: FAILURE }),
        jobRow(runId, 2, {
          due_at: 1_800_000_000_000,
          output: { kind: "value", value: { a: [1, "x", null] } },
        }),
        jobRow(runId, 3, {
          output: { kind: "value", value: null },
          error: failureOf({ code: "FAIL_FAST", message: "m", cause: FAILURE }),
          failure_handler_id: handler,
        }),
      ];
      const attempts = [
        attemptRow(runId, 1, 1, { status: "failed", finished_at: 9, error: FAILURE }),
        attemptRow(runId, 1, 2),
      ];
      const routes = [routeRow(runId, 1), routeRow(runId, 1, { to: "second", rung: "on_success" })];
      await store.commit([appendTo(taken, 1, { run, jobs, attempts, routes })]);
      expect(await store.readRun(runId)).toEqual(run);
      expect(await store.readJobs(runId)).toEqual(jobs);
      expect(await store.readAttempts(runId)).toEqual(attempts);
      expect(await store.readRoutes(runId)).toEqual(routes);
    });

    test("puts rows in place of those with the same key and leaves the others", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      const { runId } = taken;
      const [first, second] = [jobRow(runId, 1, { error: FAILURE }), jobRow(runId, 2)];
      const attempt = attemptRow(runId, 1, 1);
      await store.commit([appendTo(taken, 1, { jobs: [second, first], attempts: [attempt] })]);
      const changed = jobRow(runId, 1, { status: "completed", attempt_id: 1 });
      const finished = attemptRow(runId, 1, 1, { status: "succeeded", finished_at: 8 });
      const again = attemptRow(runId, 1, 2);
      const run = runRow(runId, { status: "completed" });
      await store.commit([appendTo(taken, 2, { run, jobs: [changed], attempts: [again, finished] })]);
      expect(await store.readRun(runId)).toEqual(run);
      expect(await store.readJobs(runId)).toEqual([changed, second]);
      expect(await store.readAttempts(runId)).toEqual([finished, again]);
    });

    test("replaces every column of a row but its key and what it keeps", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      const { runId } = taken;
      const rows = {
        run: runRow(runId, {
          ...{ parent: { run_id: 1, job_id: 10_000_001 }, error: FAILURE, cause: "schedule/a" },
          ...{ started_at: 3, finished_at: 4 },
        }),
        job: jobRow(runId, 1, { due_at: 5, error: FAILURE, output: { kind: "value", value: 1 } }),
        attempt: attemptRow(runId, 1, 1, { finished_at: 6, error: FAILURE }),
        checkpoint: checkpointRow(runId, 1),
      };
      const next = {
        run: nextVersion(TABLES.run, rows.run),
        job: nextVersion(TABLES.job, rows.job, ["run_id"]),
        attempt: nextVersion(TABLES.attempt, rows.attempt),
        checkpoint: nextVersion(TABLES.checkpoint, rows.checkpoint, ["job_id"]),
      };
      for (const [place, { run, job, attempt, checkpoint }] of [rows, next].entries())
        await store.commit([
          appendTo(taken, place + 1, { run, jobs: [job], attempts: [attempt], checkpoints: [checkpoint] }),
        ]);
      expect(await store.readRun(runId)).toEqual(next.run);
      expect(await store.readJobs(runId)).toEqual([next.job]);
      expect(await store.readAttempts(runId)).toEqual([next.attempt]);
      expect(await store.readCheckpoints(runId)).toEqual([next.checkpoint]);
    });

    test("tells managed from wanted", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      const run = runRow(taken.runId, { managed: true, wanted: false });
      await store.commit([appendTo(taken, 1, { run })]);
      expect(await store.listRuns({})).toEqual([run]);
      const wanted = runRow(taken.runId, { managed: true, wanted: true });
      await store.commit([appendTo(taken, 2, { run: wanted })]);
      expect(await store.listRuns({})).toEqual([wanted]);
    });

    test("may leave the run's row out after the first", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      await store.commit([appendTo(taken, 1)]);
      await store.commit([appendTo(taken, 2, { run: null })]);
      expect(await store.readRun(taken.runId)).toEqual(runRow(taken.runId));
    });

    test("takes several appends of one run that follow each other", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      await store.commit([appendTo(taken, 1), appendTo(taken, 2), appendTo(taken, 3)]);
      expect((await store.readEvents(taken.runId)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    });

    test("of nothing is no error", async () => {
      await under.store.commit([]);
    });

    test("takes 3,000 jobs and keeps each", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      const jobs = Array.from({ length: 3_000 }, (_, n) => jobRow(taken.runId, n + 1));
      await store.commit([appendTo(taken, 1, { jobs })]);
      expect(await store.readJobs(taken.runId)).toEqual(jobs);
    });

    test("of 3,000 jobs is kept whole where another that is called with it is refused by the database", async () => {
      const { store } = under;
      const [first, large, bad] = [await takeRun(store), await takeRun(store), await takeRun(store)];
      const jobs = Array.from({ length: 3_000 }, (_, n) => jobRow(large.runId, n + 1));
      const orphan = jobRow(bad.runId, 1, { failure_handler_id: 999 });
      const seqs = Array.from({ length: 10 }, (_, i) => i + 1);
      await Promise.allSettled([
        ...seqs.map((seq) => store.commit([appendTo(first, seq)])),
        store.commit([appendTo(large, 1, { jobs })]),
        store.commit([appendTo(bad, 1, { jobs: [orphan] })]),
      ]);
      expect(await store.readJobs(large.runId)).toEqual(jobs);
    });

    test("many that are called at once are done in the order of their calls", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      const seqs = Array.from({ length: 100 }, (_, i) => i + 1);
      await Promise.all(seqs.map((seq) => store.commit([appendTo(taken, seq)])));
      const events = await store.readEvents(taken.runId);
      expect(events.map(({ event }) => event)).toEqual(
        seqs.map((seq) => ({ type: "run.canceled", reason: `event ${seq}` })),
      );
    });
  });
}

function refusedCommits(under: StoreUnderTest): void {
  const refused = async (append: Append, code: string) => {
    const before = await under.store.readEvents(append.runId);
    await expect(under.store.commit([append])).rejects.toMatchObject({ name: "DarumaError", code });
    expect(await under.store.readEvents(append.runId)).toEqual(before);
  };

  describe("a commit is refused", () => {
    test("with a token that was never given", async () => {
      const taken = await takeRun(under.store);
      await refused(appendTo({ ...taken, fence: taken.fence + 1 }, 1), "LEASE_LOST");
    });

    test("with 3,000 jobs, of which none stays", async () => {
      const taken = await takeRun(under.store);
      const jobs = Array.from({ length: 3_000 }, (_, n) => jobRow(taken.runId, n + 1));
      await refused(appendTo({ ...taken, fence: taken.fence + 1 }, 1, { jobs }), "LEASE_LOST");
      await refused(appendTo(taken, 2, { jobs }), "LEASE_LOST");
      expect(await under.store.readJobs(taken.runId)).toEqual([]);
    });

    test("for a run that nobody has taken", async () => {
      await refused(appendTo({ runId: 999, fence: 1 }, 1), "LEASE_LOST");
    });

    test("with the token of an owner who was replaced, while the new one may write", {
      tags: ["T8"],
    }, async () => {
      const { store } = under;
      const taken = await takeRun(store);
      await store.commit([appendTo(taken, 1)]);
      await store.releaseLease(taken.runId, taken.fence);
      const fence = await mustAcquire(store, taken.runId, RIVAL);
      await refused(appendTo(taken, 2), "LEASE_LOST");
      await store.commit([appendTo({ ...taken, fence }, 2)]);
    });

    test("with a token that was given back", async () => {
      const taken = await takeRun(under.store);
      await under.store.releaseLease(taken.runId, taken.fence);
      await refused(appendTo(taken, 1), "LEASE_LOST");
    });

    test("when it leaves a gap in the log", async () => {
      const taken = await takeRun(under.store);
      await under.store.commit([appendTo(taken, 1)]);
      await refused(appendTo(taken, 3), "LEASE_LOST");
    });

    test("when it would write over an event", { tags: ["T8"] }, async () => {
      const taken = await takeRun(under.store);
      await under.store.commit([appendTo(taken, 1, { events: [canceledEvent("a"), canceledEvent("b")] })]);
      await refused(appendTo(taken, 2, { events: [canceledEvent("other")] }), "LEASE_LOST");
    });

    test("when a run's first append has no run row", async () => {
      const taken = await takeRun(under.store);
      await refused(appendTo(taken, 1, { run: null }), "STORE_FAILED");
    });

    test("when a job names a failure handler that is not there", async () => {
      const taken = await takeRun(under.store);
      const missing = (await registerHandler(under.store)) + 1;
      const jobs = [jobRow(taken.runId, 1), jobRow(taken.runId, 2, { failure_handler_id: missing })];
      await refused(appendTo(taken, 1, { jobs }), "STORE_FAILED");
      expect(await under.store.readJobs(taken.runId)).toEqual([]);
    });

    test("when a row belongs to another run", async () => {
      const taken = await takeRun(under.store);
      const other = taken.runId + 1;
      await refused(appendTo(taken, 1, { run: runRow(other) }), "STORE_FAILED");
      await refused(appendTo(taken, 1, { jobs: [jobRow(other, 1)] }), "STORE_FAILED");
      await refused(appendTo(taken, 1, { attempts: [attemptRow(other, 1, 1)] }), "STORE_FAILED");
      await refused(appendTo(taken, 1, { routes: [routeRow(other, 1)] }), "STORE_FAILED");
    });
  });
}

function atomicCommits(under: StoreUnderTest): void {
  describe("a commit is one piece", () => {
    test("across runs: one stale append refuses all of them, whatever its place", async () => {
      const { store } = under;
      const [good, stale] = [await takeRun(store), await takeRun(store)];
      const goodAppend = appendTo(good, 1, {
        jobs: [jobRow(good.runId, 1)],
        attempts: [attemptRow(good.runId, 1, 1)],
        routes: [routeRow(good.runId, 1)],
      });
      const staleAppend = appendTo({ ...stale, fence: stale.fence + 5 }, 1);
      for (const appends of [
        [goodAppend, staleAppend],
        [staleAppend, goodAppend],
      ]) {
        await expect(store.commit(appends)).rejects.toMatchObject({ code: "LEASE_LOST" });
        expect(await store.listRuns({})).toEqual([]);
        expect(await store.readEvents(good.runId)).toEqual([]);
        expect(await store.readJobs(good.runId)).toEqual([]);
        expect(await store.readAttempts(good.runId)).toEqual([]);
        expect(await store.readRoutes(good.runId)).toEqual([]);
      }
    });

    test("a refused one among many that are called at once takes none of the others with it", async () => {
      const { store } = under;
      const runs = [await takeRun(store), await takeRun(store), await takeRun(store), await takeRun(store)];
      const outcomes = await Promise.allSettled(
        runs.map((run, i) => store.commit([appendTo(i === 1 ? { ...run, fence: 99 } : run, 1)])),
      );
      expect(outcomes.map(({ status }) => status)).toEqual([
        "fulfilled",
        "rejected",
        "fulfilled",
        "fulfilled",
      ]);
      const kept = (await store.listRuns({})).map(({ id }) => id);
      expect(kept).toEqual([runs[3]?.runId, runs[2]?.runId, runs[0]?.runId]);
    });
  });
}
