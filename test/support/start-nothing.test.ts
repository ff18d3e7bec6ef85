import { describe, expect, it } from "vitest";

describe("a fast test", () => {
  it("cannot start a process or a thread, by whatever name it finds the module", async () => {
    const processes = await import(["node:child", "process"].join("_"));
    const threads = await import(["node:worker", "threads"].join("_"));
    expect(() => processes.spawn("true")).toThrow("must not start processes or threads");
    expect(() => processes.execFileSync("true")).toThrow("must not start processes or threads");
    expect(() => new threads.Worker("")).toThrow("must not start processes or threads");
  });
});
