import { describe, expect, it } from "vitest";
import { logFile } from "./attempt-paths.js";

const nameOf = (runId: number) => ({ workflowId: 1, jobId: 2, runId, attempt: 3 });

describe("the log of an attempt", () => {
  it("lies in the folder of its own run, whichever was asked for before", () => {
    for (const base of ["/a", "/b/../b/"])
      for (const runId of [7, 8, 7]) {
        const folder = `${base === "/a" ? "/a" : "/b"}/output/job_stdio`;
        const name = `job_wf1_j2_r${runId}_a3.o`;
        expect(logFile(base, nameOf(runId), "stdout")).toBe(`${folder}/run-${runId}/${name}`);
      }
  });
});
