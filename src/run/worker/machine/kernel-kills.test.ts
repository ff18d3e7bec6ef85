import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { KernelKills } from "./control-group.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-kills-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the kernel's count of processes that it has ended for want of memory", () => {
  it("is read anew each time from the same file", () => {
    const file = join(folder, "memory.events");
    let found = 0;
    writeFileSync(file, "max 1\noom_kill 1\n");
    const kills = new KernelKills(() => {
      found += 1;
      return file;
    });
    expect(kills.count()).toBe(1);
    writeFileSync(file, "max 1\noom_kill 12\n");
    expect(kills.count()).toBe(12);
    expect(found).toBe(1);
  });

  it("is unknown where there is no such file, or it says nothing of it", () => {
    expect(new KernelKills(() => null).count()).toBeNull();
    const missing = new KernelKills(() => join(folder, "nothing"));
    expect([missing.count(), missing.count()]).toEqual([null, null]);
    writeFileSync(join(folder, "old"), "under_oom 0\n");
    expect(new KernelKills(() => join(folder, "old")).count()).toBeNull();
  });
});
