import { describe, expect, it } from "vitest";
import { attemptRow, jobRow } from "../../../test/contract/store-fixtures.js";
import type { AttemptRow, JobRow, RunRow } from "../../core/model/rows.js";
import type { Store } from "../../store/store.js";
import { findLogs } from "./read-logs.js";

const job = (id: number, step: string): JobRow => ({ ...jobRow(3, 1), id, step });
const attempt = (jobId: number, number: number, status: AttemptRow["status"] = "succeeded"): AttemptRow =>
  attemptRow(3, 1, number, { job_id: jobId, status });

const rows: Partial<Store> = {
  readRun: async (id) => (id === 3 ? ({ id: 3, workflow_id: 5 } as RunRow) : null),
  readAttempts: async (_run, job) =>
    [attempt(31, 1, "failed"), attempt(31, 2), attempt(33, 1)].filter(({ job_id }) => job_id === job),
};
const find = (of: JobRow, attempt?: number) =>
  findLogs(rows as Store, "/out", { job: of, ...(attempt === undefined ? {} : { attempt }) });
const build = job(31, "build");

describe("where an attempt's output lies", () => {
  it("is by default that of the last attempt", async () => {
    expect(await find(build)).toEqual({
      step: "build",
      scope: "root",
      attempt: 2,
      status: "succeeded",
      stdout: "/out/output/job_stdio/run-3/job_wf5_j31_r3_a2.o",
      stderr: "/out/output/job_stdio/run-3/job_wf5_j31_r3_a2.e",
    });
    expect(await find(build, 1)).toMatchObject({ attempt: 1, status: "failed" });
  });

  it.each([
    [build, 9, "Its attempts: 1 (failed), 2 (succeeded)."],
    [job(34, "idle"), undefined, "See `daruma explain 3 idle`."],
  ])("is refused where there is no such attempt, with what there is", async (of, wanted, hint) => {
    await expect(find(of, wanted)).rejects.toMatchObject({ code: "ATTEMPT_NOT_FOUND", hint });
  });
});
