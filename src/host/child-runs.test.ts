import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createMemoryStore } from "../store/memory/memory-store.js";
import { Daruma } from "./daruma.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-child-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a child run whose engine is closed", () => {
  it("is neither canceled nor asked to be: it stays as resumable as its parent", async () => {
    writeFileSync(join(folder, "child.yaml"), 'steps: { work: { type: command, exec: "sleep 600" } }');
    const file = join(folder, "parent.yaml");
    writeFileSync(file, "steps: { sub: { type: workflow, file: child.yaml } }");
    const store = createMemoryStore();
    const sent = vi.spyOn(store, "sendCommand");
    const closed = vi.spyOn(store, "close").mockResolvedValue();
    const daruma = await Daruma.open({ outputDir: join(folder, "out"), store });
    const working = new Promise<void>((resolve) => {
      daruma.onCommitted((run, events) => {
        if (run.parent !== null && events.some(({ event }) => event.type === "attempt.started")) resolve();
      });
    });
    await daruma.start(file);
    await working;
    await daruma.close();
    const runs = await store.listRuns({});
    expect(runs.map(({ status }) => status)).toEqual(["running", "running"]);
    expect(await Promise.all(runs.map(({ id }) => store.readLease(id)))).toEqual([null, null]);
    expect(sent).not.toHaveBeenCalled();
    closed.mockRestore();
    await store.close();
  });
});
