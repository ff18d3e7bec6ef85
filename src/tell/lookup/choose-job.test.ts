import { describe, expect, it } from "vitest";
import type { JobRow, RunRow } from "../../core/model/rows.js";
import type { Store } from "../../store/store.js";
import { findJob, type JobRequest } from "./choose-job.js";

const JOBS = [
  { id: 30000001, run_id: 3, step: "build", scope: "root" },
  { id: 30000002, run_id: 3, step: "visit", scope: "root/list[0]" },
  { id: 30000003, run_id: 3, step: "visit", scope: "root/list[1]" },
  { id: 30000004, run_id: 3, step: "mail@home", scope: "root/list[0]" },
  { id: 30000005, run_id: 3, step: "mail@home", scope: "root/list[1]" },
  { id: 30000006, run_id: 3, step: "2026", scope: "root" },
  { id: 40000001, run_id: 4, step: "build", scope: "root" },
  { id: 50000001, run_id: 5, step: "40000001", scope: "root" },
] as JobRow[];

const rows: Partial<Store> = {
  readRun: async (id) => (JOBS.some(({ run_id }) => run_id === id) ? ({ id } as RunRow) : null),
  listRuns: async () => [{ id: 4, parent: null } as RunRow],
  readJob: async (id) => JOBS.find((job) => job.id === id) ?? null,
  readJobNames: async (runId, { step } = {}) =>
    JOBS.filter((job) => job.run_id === runId && (step === undefined || job.step === step)),
};
const find = (request: JobRequest) => findJob(rows as Store, request);

describe("a job", () => {
  it.each<[JobRequest, number]>([
    [{ job_id: 30000002 }, 30000002],
    [{ job_id: "30000002" }, 30000002],
    [{ job_id: 30000002, run_id: 3 }, 30000002],
    [{ job_id: "build", run_id: 3 }, 30000001],
    [{ job_id: "build", run_id: "last" }, 40000001],
    [{ job_id: "visit@list[1]", run_id: 3 }, 30000003],
    [{ job_id: "visit@root/list[1]", run_id: 3 }, 30000003],
    [{ job_id: "visit", run_id: 3, scope: "list[0]" }, 30000002],
    [{ job_id: "mail@home@list[1]", run_id: 3 }, 30000005],
    [{ job_id: "2026", run_id: 3 }, 30000006],
    [{ job_id: "40000001", run_id: 5 }, 50000001],
    [{ job_id: "40000001" }, 40000001],
  ])("is found by %j", async (request, id) => {
    expect((await find(request)).id).toBe(id);
  });

  it.each<[JobRequest, string, string, string]>([
    [
      { job_id: "visit", run_id: 3 },
      "STEP_AMBIGUOUS",
      "visit has 2 jobs in run 3: visit@list[0] (30000002), visit@list[1] (30000003)",
      "Name one of them as visit@SCOPE, or by its id.",
    ],
    [
      { job_id: "biuld", run_id: 3 },
      "STEP_NOT_FOUND",
      "run 3 has no step biuld, did you mean `build`?",
      "Its steps: build, visit, mail@home, 2026.",
    ],
    [
      { job_id: "visit@list[7]", run_id: 3 },
      "STEP_NOT_FOUND",
      "run 3 has no visit in the scope list[7]",
      "Its jobs: visit@list[0] (30000002), visit@list[1] (30000003).",
    ],
    [
      { job_id: 40000001, run_id: 3 },
      "WRONG_RUN",
      "job 40000001 belongs to run 4, not to 3",
      "Use the run that the message names, or leave out the run: a job's id is enough.",
    ],
    [
      { job_id: 40000001, run_id: 9 },
      "WRONG_RUN",
      "job 40000001 belongs to run 4, not to 9",
      "Use the run that the message names, or leave out the run: a job's id is enough.",
    ],
    [{ job_id: 7, run_id: 3 }, "JOB_NOT_FOUND", "there is no job 7", "See `daruma jobs`."],
    [{ job_id: 7 }, "JOB_NOT_FOUND", "there is no job 7", "See `daruma jobs`."],
    [{ job_id: "build", run_id: 9 }, "RUN_NOT_FOUND", "there is no run 9", "See `daruma list`."],
    [
      { job_id: "build" },
      "INVALID_INPUT",
      "build is not a job id; name its run in run_id",
      "Name the run too, such as `last`.",
    ],
  ])("is refused as %j with what there is to choose from", async (request, code, message, hint) => {
    await expect(find(request)).rejects.toMatchObject({ code, message, hint });
  });
});
