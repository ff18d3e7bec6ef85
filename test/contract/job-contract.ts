import { describe, expect, test } from "vitest";
import type { JobRow, JobStatus, RunStatus } from "../../src/core/model/rows.js";
import type { JobFilter } from "../../src/store/filters.js";
import type { StoreUnderTest } from "./store-contract.js";
import { appendTo, FAILURE, jobRow, putRun, registerHandler, takeRun } from "./store-fixtures.js";

const UNSETTLED: readonly JobStatus[] = [
  ...(["blocked", "ready", "running", "waiting", "recovering", "held"] as const),
];
const SETTLED: readonly JobStatus[] = ["completed", "failed", "skipped", "canceled"];

export function jobContract(under: StoreUnderTest): void {
  const list = async (filter: JobFilter) => (await under.store.listJobs(filter)).map(({ id }) => id);
  const idOf = (runId: number, n: number) => jobRow(runId, n).id;

  /** A run with one job of each of these statuses, numbered from 1, on alternating steps. */
  const putJobs = (
    statuses: readonly JobStatus[],
    run: { readonly status?: RunStatus; readonly workflow_id?: number } = {},
  ) =>
    putRun(under.store, run, (runId) => ({
      jobs: statuses.map((status, i) =>
        jobRow(runId, i + 1, { status, step: i % 2 === 0 ? "build" : "test" }),
      ),
    }));

  oneJob(under);
  jobsAcrossRuns(under, list, idOf, putJobs);
  jobsByStatus(list, idOf, putJobs);
  deadLetters(under, list, idOf);
}

type List = (filter: JobFilter) => Promise<number[]>;
type IdOf = (runId: number, n: number) => number;
type PutJobs = (
  statuses: readonly JobStatus[],
  run?: { readonly status?: RunStatus; readonly workflow_id?: number },
) => Promise<number>;

function oneJob(under: StoreUnderTest): void {
  describe("a job", () => {
    test("is read whole by its id, alone and in a list", async () => {
      const { store } = under;
      const handler = await registerHandler(store);
      const jobs: JobRow[] = [];
      const runId = await putRun(store, {}, (id) => {
        jobs.push(jobRow(id, 1), jobRow(id, 2, { handled: true, error: FAILURE, due_at: 7 }));
        jobs.push(jobRow(id, 3, { output: { kind: "value", value: null }, failure_handler_id: handler }));
        return { jobs };
      });
      expect(await Promise.all(jobs.map(({ id }) => store.readJob(id)))).toEqual(jobs);
      expect(await store.listJobs({})).toEqual(jobs);
      expect(await store.listJobs({ runId, workflowId: 7, status: ["blocked"] })).toEqual(jobs);
    });

    test("has a name that is read without the rest of it, of all jobs of a run or of some", async () => {
      const named = (n: number) => ({ step: `step-${n}`, scope: n === 1 ? "root" : `root/list[${n}]` });
      const jobs = (runId: number) => ({ jobs: [1, 2, 3].map((n) => jobRow(runId, n, named(n))) });
      const runId = await putRun(under.store, {}, jobs);
      await putRun(under.store, {}, jobs);
      const names = [1, 2, 3].map((n) => ({ id: jobRow(runId, n).id, ...named(n) }));
      expect(await under.store.readJobNames(runId)).toEqual(names);
      expect(await under.store.readJobNames(runId, { afterId: names[1]!.id })).toEqual(names.slice(2));
      expect(await under.store.readJobNames(runId, { afterId: names[0]!.id, limit: 1 })).toEqual([names[1]]);
      expect(await under.store.readJobNames(runId, { step: "step-2" })).toEqual([names[1]]);
      expect(await under.store.readJobNames(runId, { step: "step-2", afterId: names[1]!.id })).toEqual([]);
      expect(await under.store.readJobNames(404)).toEqual([]);
    });

    test("that is not there is not found", async () => {
      await putRun(under.store, {}, (runId) => ({ jobs: [jobRow(runId, 1)] }));
      expect(await under.store.readJob(404)).toBeNull();
    });
  });
}

function jobsAcrossRuns(under: StoreUnderTest, list: List, idOf: IdOf, putJobs: PutJobs): void {
  describe("jobs across runs", () => {
    test("are listed by id", async () => {
      const [one, two] = [await putJobs(["ready", "completed"]), await putJobs(["running"])];
      expect(await list({})).toEqual([idOf(one, 1), idOf(one, 2), idOf(two, 1)]);
      expect(await list({ runId: two })).toEqual([idOf(two, 1)]);
      expect(await list({ runId: 404 })).toEqual([]);
    });

    test("are filtered by the version of their workflow, by step, and by both", async () => {
      const one = await putJobs(["ready", "completed"], { workflow_id: 1 });
      const two = await putJobs(["ready", "completed", "failed"], { workflow_id: 2 });
      expect(await list({ workflowId: 1 })).toEqual([idOf(one, 1), idOf(one, 2)]);
      expect(await list({ workflowId: 3 })).toEqual([]);
      expect(await list({ step: "build" })).toEqual([idOf(one, 1), idOf(two, 1), idOf(two, 3)]);
      expect(await list({ step: "none" })).toEqual([]);
      expect(await list({ workflowId: 2, step: "build" })).toEqual([idOf(two, 1), idOf(two, 3)]);
      expect(await list({ workflowId: 2, step: "build", status: ["failed"] })).toEqual([idOf(two, 3)]);
      expect(await list({ workflowId: 2, runId: one })).toEqual([]);
    });

    test("are those of a family where a filter has its name in the place of a step", async () => {
      const train = (id: number, n: number) => jobRow(id, n, { step: `train_${n}`, family: "train_{i}" });
      const run = await putRun(under.store, {}, (id) => ({
        jobs: [train(id, 1), train(id, 2), jobRow(id, 3, { step: "train" })],
      }));
      expect(await list({ step: "train_{i}" })).toEqual([idOf(run, 1), idOf(run, 2)]);
      expect(await list({ step: "train_2" })).toEqual([idOf(run, 2)]);
    });

    test("are read page by page", async () => {
      const [one, two] = [await putJobs(["ready", "failed", "ready"]), await putJobs(["ready", "ready"])];
      expect(await list({ limit: 2 })).toEqual([idOf(one, 1), idOf(one, 2)]);
      expect(await list({ limit: 2, afterId: idOf(one, 2) })).toEqual([idOf(one, 3), idOf(two, 1)]);
      expect(await list({ limit: 2, afterId: idOf(two, 1) })).toEqual([idOf(two, 2)]);
      expect(await list({ afterId: idOf(two, 2) })).toEqual([]);
      expect(await list({ limit: 0 })).toEqual([]);
      const ready = { status: ["ready"] as const, limit: 2 };
      expect(await list(ready)).toEqual([idOf(one, 1), idOf(one, 3)]);
      expect(await list({ ...ready, afterId: idOf(one, 3) })).toEqual([idOf(two, 1), idOf(two, 2)]);
      expect(await list({ ...ready, step: "test" })).toEqual([idOf(two, 2)]);
    });
  });
}

function jobsByStatus(list: List, idOf: IdOf, putJobs: PutJobs): void {
  describe("jobs by status", () => {
    test("are found for each status and for several", async () => {
      const runId = await putJobs([...UNSETTLED, ...SETTLED]);
      for (const [i, status] of [...UNSETTLED, ...SETTLED].entries()) {
        expect(await list({ status: [status] }), status).toEqual([idOf(runId, i + 1)]);
      }
      expect(await list({ status: ["skipped", "ready"] })).toEqual([idOf(runId, 2), idOf(runId, 9)]);
      expect(await list({ status: [] })).toEqual([]);
      expect(await list({ status: [], runId })).toEqual([]);
    });

    test("that are settled are found in runs that are over and in others", async () => {
      const [over, live] = [await putJobs(["failed"], { status: "failed" }), await putJobs(["failed"])];
      expect(await list({ status: ["failed"] })).toEqual([idOf(over, 1), idOf(live, 1)]);
    });

    test("that are not settled are found in every run that is not over", async () => {
      const runs: number[] = [];
      for (const status of ["pending", "running", "paused", "held"] as const) {
        runs.push(await putJobs(["waiting"], { status }));
      }
      expect(await list({ status: ["waiting", "blocked"] })).toEqual(runs.map((runId) => idOf(runId, 1)));
    });

    test("that a run which is over left unsettled are found only where nothing else will do", async () => {
      const runs: number[] = [];
      for (const status of ["completed", "failed", "canceled"] as const) {
        runs.push(await putJobs(["blocked", "failed"], { status }));
      }
      const [first] = runs as [number];
      expect(await list({ status: UNSETTLED })).toEqual([]);
      expect(await list({ status: UNSETTLED, workflowId: 7 })).toEqual([]);
      expect(await list({ status: ["blocked"], runId: first })).toEqual([idOf(first, 1)]);
      expect(await list({ status: ["blocked", "completed"] })).toEqual(runs.map((runId) => idOf(runId, 1)));
      expect(await list({ step: "build" })).toEqual(runs.map((runId) => idOf(runId, 1)));
    });
  });
}

function deadLetters(under: StoreUnderTest, list: List, idOf: IdOf): void {
  describe("dead letters", () => {
    const put = (status: RunStatus, dead: readonly boolean[]) =>
      putRun(under.store, { status }, (runId) => ({
        jobs: dead.map((dead_letter, i) => jobRow(runId, i + 1, { status: "failed", dead_letter })),
      }));

    test("are found across runs, in those that are over too, page by page", async () => {
      const [one, two] = [await put("failed", [true, false, true]), await put("held", [false, true])];
      expect(await list({ deadLetter: true })).toEqual([idOf(one, 1), idOf(one, 3), idOf(two, 2)]);
      expect(await list({ deadLetter: true, runId: two })).toEqual([idOf(two, 2)]);
      expect(await list({ deadLetter: true, limit: 2 })).toEqual([idOf(one, 1), idOf(one, 3)]);
      expect(await list({ deadLetter: true, afterId: idOf(one, 3) })).toEqual([idOf(two, 2)]);
      expect(await list({ deadLetter: true, status: ["completed"] })).toEqual([]);
    });

    test("are none any more once the job is written without the mark", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      const { runId } = taken;
      const write = (firstSeq: number, dead_letter: boolean) =>
        store.commit([
          appendTo(taken, firstSeq, { jobs: [jobRow(runId, 1, { status: "failed", dead_letter })] }),
        ]);
      await write(1, true);
      expect(await list({ deadLetter: true })).toEqual([idOf(runId, 1)]);
      await write(2, false);
      expect(await list({ deadLetter: true })).toEqual([]);
      expect(await store.readJob(idOf(runId, 1))).toMatchObject({ dead_letter: false });
    });
  });
}
