import { expect, it } from "vitest";
import { systemThreadId, threadCpuMs } from "./thread-cpu.js";

it.skipIf(process.platform !== "linux")(
  "counts the CPU time of a thread, and nothing while it waits",
  async () => {
    const threadId = systemThreadId();
    const before = threadCpuMs(threadId);
    expect(before).not.toBeNull();
    let left = 1e9;
    while (threadCpuMs(threadId)! < before! + 50 && left > 0) left -= 1;
    expect(left).toBeGreaterThan(0);
    expect(threadCpuMs(threadId)! - before!).toBeGreaterThanOrEqual(50);
  },
);

it("knows nothing of a thread that is not there", () => {
  expect([threadCpuMs(null), threadCpuMs(0)]).toEqual([null, null]);
});
