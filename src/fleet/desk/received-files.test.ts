import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NEEDS } from "../../../test/support/pool-bench.js";
import type { HeldAttempt } from "../../run/worker.js";
import { ReceivedFiles } from "./received-files.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-received-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const HELD: HeldAttempt = {
  runId: 1,
  workflowId: 1,
  jobId: 10_000_001,
  attempt: 1,
  token: "t",
  worker: "w",
  recovery: false,
  needs: NEEDS,
};

describe("a log that a worker sends", () => {
  it("is kept up to the workflow's limit, and the worker that sends more goes on", async () => {
    const files = new ReceivedFiles(folder);
    const held = { ...HELD, maxLogBytes: 1000 };
    const most = 1000 + 1024 * 1024;
    const bytes = new Uint8Array(400_000).fill(65);
    const sizes: number[] = [];
    for (const offset of [0, 400_000, 800_000, 1_200_000])
      sizes.push(await files.writeLog(held, { stream: "stdout", offset, bytes, begin: offset === 0 }));
    expect(sizes).toEqual([400_000, 800_000, 1_200_000, 1_600_000]);
    expect(files.logSize(held, "stdout")).toBe(most);
  });

  it("shares the limit with the other logs of the attempt", async () => {
    const files = new ReceivedFiles(folder);
    const held = { ...HELD, maxLogBytes: 1000 };
    const bytes = new Uint8Array(800_000).fill(65);
    for (const stream of ["stdout", "stderr", "usage"] as const)
      expect(await files.writeLog(held, { stream, offset: 0, bytes, begin: true })).toBe(800_000);
    const sizes = (["stdout", "stderr", "usage"] as const).map((stream) => files.logSize(held, stream));
    expect(sizes).toEqual([800_000, 1000 + 1024 * 1024 - 800_000, 0]);
  });
});

describe("an output that a worker sends", () => {
  it("is refused if it is no JSON, or deeper than others can walk through", () => {
    const files = new ReceivedFiles(folder);
    const nested = (levels: number) => Buffer.from("[".repeat(levels) + "]".repeat(levels));
    expect(files.writeOutput(HELD, nested(1_000))).toMatchObject({ bytes: 2_000 });
    expect(() => files.writeOutput(HELD, nested(100_000))).toThrow(/nested more than 1000 levels/);
    expect(() => files.writeOutput(HELD, Buffer.from("["))).toThrow(/not JSON/);
  });
});
