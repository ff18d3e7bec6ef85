import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EarlierLogs } from "../attempt-logs.js";
import { type AttemptName, logFile, logFolder, runLogFolder } from "../attempt-paths.js";

const name = (runId: number): AttemptName => ({ workflowId: 1, jobId: runId * 10 + 1, runId, attempt: 1 });

let base = "";

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "daruma-earlier-"));
  mkdirSync(logFolder(base), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe("a log of an earlier database", () => {
  test("may lie in the folder of a run that was there before the run's first attempt here", () => {
    mkdirSync(runLogFolder(base, 2));
    const logs = new EarlierLogs(base);
    expect(logs.of(name(1), "stdout")).toEqual([]);
    expect(logs.of(name(2), "stdout")).toEqual([logFile(base, name(2), "stdout")]);
  });

  test("is not looked for in a folder that the run's own attempts have made since", () => {
    const logs = new EarlierLogs(base);
    expect(logs.of(name(1), "stdout")).toEqual([]);
    mkdirSync(runLogFolder(base, 1));
    expect(logs.of({ ...name(1), attempt: 2 }, "stderr")).toEqual([]);
  });
});
