import { describe, expect, it } from "vitest";
import type { AttemptRow, JobRow, RunRow } from "../core/rows.js";
import type { Store } from "../store/store.js";
import { findLogs } from "./read-logs.js";

const job = (id: number, step: string, scope = "root"): JobRow => ({
  id,
  run_id: 3,
  step,
  scope,
  status: "completed",
  attempt_id: 2,
  visit: 1,
  handled: false,
  due_at: null,
  error: null,
  output: null,
  failure_handler_id: null,
  dead_letter: false,
});
const attempt = (jobId: number, number: number, status: AttemptRow["status"] = "succeeded"): AttemptRow => ({
  job_id: jobId,
  attempt: number,
  run_id: 3,
  visit: 1,
  worker: "w",
  token: "t",
  status,
  started_at: 0,
  finished_at: 1,
  error: null,
});

const rows: Partial<Store> = {
  readRun: async (id) => (id === 3 ? ({ id: 3, workflow_id: 5 } as RunRow) : null),
  readJobs: async () => [
    job(31, "build"),
    job(32, "visit", "root/list[0]"),
    job(33, "visit", "root/list[1]"),
    job(34, "idle"),
  ],
  readAttempts: async () => [attempt(31, 2), attempt(31, 1, "failed"), attempt(33, 1)],
};
const find = (request: { step: string; attempt?: number; scope?: string; runId?: number }) =>
  findLogs(rows as Store, "/out", { runId: 3, ...request });

describe("where an attempt's output lies", () => {
  it("is the last attempt unless told", async () => {
    expect(await find({ step: "build" })).toEqual({
      step: "build",
      scope: "root",
      attempt: 2,
      status: "succeeded",
      stdout: "/out/output/job_stdio/job_wf5_j31_r3_a2.o",
      stderr: "/out/output/job_stdio/job_wf5_j31_r3_a2.e",
    });
    expect(await find({ step: "build", attempt: 1 })).toMatchObject({ attempt: 1, status: "failed" });
  });

  it.each(["root/list[1]", "list[1]"])("takes the branch %s", async (scope) => {
    expect(await find({ step: "visit", scope })).toMatchObject({ scope: "root/list[1]", attempt: 1 });
  });

  it.each([
    [{ step: "biuld" }, "STEP_NOT_FOUND", "Its steps: build, visit, idle."],
    [{ step: "visit" }, "USAGE", "Its scopes: root/list[0], root/list[1]."],
    [{ step: "visit", scope: "list[7]" }, "STEP_NOT_FOUND", "Its scopes: root/list[0], root/list[1]."],
    [{ step: "build", attempt: 9 }, "ATTEMPT_NOT_FOUND", "Its attempts: 1 (failed), 2 (succeeded)."],
    [{ step: "idle" }, "ATTEMPT_NOT_FOUND", "See `daruma explain 3 idle`."],
    [{ step: "build", runId: 9 }, "RUN_NOT_FOUND", "See `daruma list`."],
  ])("refuses %j with %s and says what there is", async (request, code, hint) => {
    await expect(find(request)).rejects.toMatchObject({ code, hint });
  });
});
