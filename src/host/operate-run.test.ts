import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CommandOutcome } from "../core/decide/take-command.js";
import type { DarumaError } from "../core/errors/errors.js";
import type { OperatorCommand } from "../core/model/commands.js";
import { defineWorkflow } from "../operations/workflows/define-workflow.js";
import { currentOwner } from "../store/lease-owner.js";
import { createMemoryStore, type MemoryStore } from "../store/memory/memory-store.js";
import { ownerOf } from "../tell/lookup/run-owner.js";
import { Daruma } from "./daruma.js";
import { operateRun } from "./operate-run.js";

let folder = "";
let store: MemoryStore;
let daruma: Daruma;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "daruma-operate-"));
  store = createMemoryStore();
  daruma = await Daruma.open({ outputDir: folder, store });
});
afterEach(async () => {
  await daruma.close();
  rmSync(folder, { recursive: true, force: true });
});

async function heldRun(): Promise<number> {
  const workflow = defineWorkflow({
    name: "held",
    unhandled: "hold",
    steps: { a: { type: "command", exec: "exit 1" } },
  });
  const { runId, result } = await daruma.start(workflow);
  await result;
  return runId;
}

async function ownByAnother(runId: number): Promise<number> {
  const owner = currentOwner("another");
  const lease = await store.acquireLease({ runId, owner, now: Date.now(), expiresAt: Date.now() + 60_000 });
  if (!lease.granted) throw new Error("the run is owned");
  return lease.fence;
}

function put(runId: number, command: OperatorCommand): Promise<CommandOutcome> {
  const owner = currentOwner(randomUUID());
  return operateRun(store, { runId, command, owner, isDead: () => false, endLeftovers: async () => {} });
}

function pause(key: string | null): OperatorCommand {
  return { type: "run.pause", reason: "lunch", key, takeover: false };
}

describe("a command of a program", () => {
  const statuses = async (runId: number): Promise<string[]> =>
    (await daruma.get(runId)).jobs.map(({ status }) => status);

  it("may name a job by its step, wherever it takes one", async () => {
    const runId = await heldRun();
    await daruma.operate(runId, { type: "step.retry", job: "a" });
    expect(await statuses(runId)).toEqual(["ready"]);
    await (await daruma.resume(runId)).result;
    const [held] = (await daruma.get(runId)).jobs;
    await expect(
      daruma.operate(runId, { type: "step.retry", job: held!.id, also: ["a"] }),
    ).rejects.toMatchObject({ message: "a job is named twice" });
    await daruma.operate(runId, { type: "holds.resolve", items: [{ job: "a", action: "skip" }] });
    expect(await statuses(runId)).toEqual(["skipped"]);
  });

  it("is refused with what there is to choose from if there is no such step or field", async () => {
    const runId = await heldRun();
    const unknown = daruma.operate(runId, { type: "step.retry", job: "b" });
    await expect(unknown).rejects.toMatchObject({ code: "STEP_NOT_FOUND" });
    const misspelt = daruma.operate(runId, { type: "step.retry", step: "a" } as never);
    await expect(misspelt).rejects.toMatchObject({ code: "INVALID_INPUT" });
    await expect(daruma.operate(99, { type: "step.retry", job: "a" })).rejects.toMatchObject({
      code: "RUN_NOT_FOUND",
    });
    expect(await statuses(runId)).toEqual(["held"]);
  });

  it("pauses without more words", async () => {
    const runId = await heldRun();
    await daruma.operate(runId, { type: "run.pause" });
    expect((await store.readRun(runId))?.status).toBe("paused");
  });
});

describe("a command to a run that another process owns", () => {
  it("is taken here once that process lets go of the run, and not a second time by its next owner", async () => {
    const runId = await heldRun();
    const fence = await ownByAnother(runId);
    const answered = put(runId, pause("k"));
    while ((await store.readInbox([runId])).length === 0) await delay(1);
    expect((await store.readRun(runId))?.status).toBe("held");
    await store.releaseLease(runId, fence);
    await answered;
    expect((await store.readRun(runId))?.status).toBe("paused");
    expect(await store.readInbox([runId])).toEqual([]);
  });

  it("is answered with its refusal if it is refused here, and the run is let go", async () => {
    const runId = await heldRun();
    const fence = await ownByAnother(runId);
    const refused = expect(put(runId, { type: "run.unpause", reason: "", key: "k" })).rejects;
    while ((await store.readInbox([runId])).length === 0) await delay(1);
    const [entry] = await store.readInbox([runId]);
    await store.releaseLease(runId, fence);
    await refused.toMatchObject({ code: "NOT_PAUSED" });
    expect(JSON.parse((await store.readAnswer(entry!.id)) ?? "")).toMatchObject({
      refusal: { code: "NOT_PAUSED" },
    });
    expect(await store.readLease(runId)).toBeNull();
  });

  it("is left unanswered if it can be neither taken nor refused here, and the run is let go", async () => {
    const runId = await heldRun();
    const fence = await ownByAnother(runId);
    const failed = expect(put(runId, pause("k"))).rejects;
    while ((await store.readInbox([runId])).length === 0) await delay(1);
    vi.spyOn(store, "commit").mockRejectedValueOnce(new Error("disk full"));
    await store.releaseLease(runId, fence);
    await failed.toThrow("disk full");
    expect(await store.readInbox([runId])).toHaveLength(1);
    expect(await store.readLease(runId)).toBeNull();
  });

  it("without a key is given one of its own, by which the owner knows it too", async () => {
    const runId = await heldRun();
    const fence = await ownByAnother(runId);
    const sent = vi.spyOn(store, "sendCommand");
    const answered = Promise.all([put(runId, pause(null)), put(runId, pause(null))]);
    while (sent.mock.calls.length < 2) await delay(1);
    const keys = sent.mock.calls.map(([{ command }]) => JSON.parse(command).key);
    expect(new Set(keys).size).toBe(2);
    expect(keys).not.toContain(null);
    await store.releaseLease(runId, fence);
    await answered;
  });
});

describe("a command to a run that nobody runs", () => {
  it("has the run for a moment only: nobody is told that its process goes on with it", async () => {
    const runId = await heldRun();
    const owners: unknown[] = [];
    const commit = store.commit.bind(store);
    vi.spyOn(store, "commit").mockImplementation(async (...given) => {
      owners.push(await ownerOf(store, runId), (await store.readLease(runId))?.owner.pid);
      return commit(...given);
    });
    await put(runId, pause("k"));
    expect(owners).toEqual([null, process.pid]);
  });

  it("is not told to wait for an attempt whose process has gone: resume continues the run", async () => {
    const steps = { a: { type: "command", exec: "sleep 600" } } as const;
    const { runId, result } = await daruma.start(defineWorkflow({ name: "gone", steps }));
    result.catch(() => {});
    while ((await store.readJobs(runId))[0]?.status !== "running") await delay(1);
    const [job] = await store.readJobs(runId);
    const retry = { type: "step.retry", job: job!.id, reason: "", key: null } as const;
    const hintOf = async (isGone: boolean): Promise<string> => {
      const owner = currentOwner(randomUUID());
      const request = { runId, command: retry, owner, isDead: () => isGone, endLeftovers: async () => {} };
      const error = await operateRun(store, request).catch((thrown: DarumaError) => thrown);
      return (error as DarumaError).hint ?? "";
    };
    expect(await hintOf(false)).toMatch(/^Wait until the attempt has ended/);
    expect(await hintOf(true)).toBe(`Nobody runs it: \`daruma resume ${runId}\` continues it.`);
  });
});

describe("canceling a run that nobody runs", () => {
  /** A parent, its child and its grandchild, whose process has gone. */
  async function orphans(leave: () => Promise<unknown>): Promise<readonly number[]> {
    const write = (name: string, steps: string) => writeFileSync(join(folder, name), `steps: { ${steps} }`);
    write("grandchild.yaml", 'work: { type: command, exec: "sleep 600" }');
    write("child.yaml", "sub: { type: workflow, file: grandchild.yaml }");
    write("parent.yaml", "sub: { type: workflow, file: child.yaml }");
    const working = new Promise<void>((resolve) => {
      daruma.onCommitted((run, events) => {
        const isWork = run.definition.steps[0]?.id === "work";
        if (isWork && events.some(({ event }) => event.type === "attempt.started")) resolve();
      });
    });
    await daruma.start(join(folder, "parent.yaml"));
    await working;
    await leave();
    const runs = await store.listRuns({});
    expect(runs.map(({ status }) => status)).toEqual(["running", "running", "running"]);
    return runs.map(({ id }) => id).sort((a, b) => a - b);
  }

  it.each([
    ["was killed", async () => void vi.spyOn(store, "commit").mockRejectedValue(new Error("killed"))],
    ["was closed", async () => {}],
  ])("cancels its unfinished child runs, and theirs, if its process %s", async (_, before) => {
    const closed = vi.spyOn(store, "close").mockResolvedValue();
    const [parent] = await orphans(async () => {
      await before();
      await daruma.close();
      vi.spyOn(store, "commit").mockRestore();
    });
    await put(parent!, { type: "run.cancel", reason: "enough", key: null });
    const runs = await store.listRuns({});
    expect(runs.map(({ status }) => status)).toEqual(["canceled", "canceled", "canceled"]);
    closed.mockRestore();
  });
});
