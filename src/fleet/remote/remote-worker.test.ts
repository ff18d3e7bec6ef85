import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { DeskServer } from "../../../test/support/desk-server.js";
import { HANG_MS } from "../../../test/support/hang.js";
import { JOB, NEEDS, type Running } from "../../../test/support/pool-bench.js";
import type { ActionDefinition } from "../../core/model/definition.js";
import type { RunRow } from "../../core/model/rows.js";
import { KEPT_AFTER_END_MS } from "../../run/worker/ended-runs.js";
import { currentOwner } from "../../store/lease-owner.js";
import type { LeaseOwner } from "../../store/store.js";

const server = new DeskServer();
const ownerNow = (): LeaseOwner => currentOwner("e");
const command = (exec: string): ActionDefinition => ({ type: "command", exec });
const ended = (...all: Running[]): Promise<void> =>
  vi.waitFor(() => expect(all.map(({ told }) => told.length)).toEqual(all.map(() => 1)), HANG_MS);
const commit = (running: Running): void => running.settle("committed");
const untilFile = (path: string): Promise<void> =>
  vi.waitFor(() => expect(existsSync(path)).toBe(true), HANG_MS);

describe("a remote worker that is asked to stop", () => {
  it("takes what was placed on it before, and leaves when nothing is left", async () => {
    await server.start();
    const worker = server.work();
    const gate = join(server.folder, "gate");
    const first = await server.place();
    const second = await server.place();
    const began = join(server.folder, "began");
    const running = server.execute(first, {
      action: command(`touch ${began}; until test -f ${gate}; do sleep 0.05; done`),
    });
    await untilFile(began);
    const left = worker.drain();
    await vi.waitFor(() => expect(server.pool.list()[0]?.draining).toBe(true), HANG_MS);
    const late = server.execute(second, { token: "t2", jobId: JOB + 1 });
    await ended(late);
    expect(late.told).toMatchObject([{ kind: "succeeded" }]);
    commit(late);
    expect(running.told).toEqual([]);
    writeFileSync(gate, "");
    await ended(running);
    commit(running);
    await left;
    expect(server.pool.list()).toEqual([]);
  });

  it("leaves in good order even while it registers", async () => {
    await server.start();
    const worker = server.work();
    await vi.waitFor(() => expect(server.pool.list()).toHaveLength(1), { timeout: HANG_MS, interval: 1 });
    await worker.drain();
    expect(server.pool.list()).toEqual([]);
  });
});

describe("a remote worker that is given more than its slots", () => {
  it("lets the rest wait for its turn, and one that is stopped meanwhile never begins", async () => {
    await server.start();
    server.work({ slots: 1, cpus: 1 });
    const gate = join(server.folder, "gate");
    const began = (name: string): string => join(server.folder, name);
    const wait = (name: string): ActionDefinition =>
      command(`touch ${began(name)}; until test -f ${gate}; do sleep 0.05; done`);
    const place = await server.place();
    // A server that does not know of the others hands out the same slot again.
    const first = server.execute(place, { action: wait("first") });
    const second = server.execute(place, { action: wait("second"), token: "t2", jobId: JOB + 1 });
    const third = server.execute(place, { action: wait("third"), token: "t3", jobId: JOB + 2 });
    const script = server.execute(place, { token: "t4", jobId: JOB + 3, recovery: true, attempt: 2 });
    await untilFile(began("first"));
    // It takes no slot.
    await ended(script);
    commit(script);
    third.controller.abort("stopped");
    await ended(third);
    expect(third.told).toMatchObject([{ kind: "stopped" }]);
    commit(third);
    expect([existsSync(began("second")), existsSync(began("third"))]).toEqual([false, false]);
    writeFileSync(gate, "");
    await ended(first);
    commit(first);
    await ended(second);
    expect(existsSync(began("second"))).toBe(true);
    expect(existsSync(began("third"))).toBe(false);
    expect(second.told).toMatchObject([{ kind: "succeeded" }]);
  });
});

describe("an attempt that its server ends", () => {
  const endedOn = async (onTerm: string): Promise<Running> => {
    await server.start();
    server.work();
    const began = join(server.folder, "began");
    const running = server.execute(await server.place(), {
      action: command(`${onTerm}; touch ${began}; while :; do sleep 0.02; done`),
      killGraceMs: 10_000,
    });
    await untilFile(began);
    running.controller.abort("stopped");
    await ended(running);
    commit(running);
    return running;
  };

  it("is told as failed where it fails on its own meanwhile", async () => {
    const { told } = await endedOn(`trap 'echo "cannot roll back" >&2; exit 7' TERM`);
    expect(told).toMatchObject([
      { kind: "failed", facts: { exitCode: 7, message: "exit code 7", said: "cannot roll back" } },
    ]);
  });

  it("is told as stopped where it only dies", async () => {
    expect((await endedOn(":")).told).toMatchObject([{ kind: "stopped" }]);
  });
});

describe("an attempt that cannot be cleared away", () => {
  it("does not take the others with it", async () => {
    await server.start(2_000);
    const worker = server.work();
    const began = join(server.folder, "began");
    const running = server.execute(await server.place(), { action: command(`touch ${began}; sleep 600`) });
    await untilFile(began);
    // A folder where there should be a file cannot be removed as one.
    mkdirSync(join(server.folder, "workers/w1/output/run-1/summaries", `j${JOB}_a1.txt`), {
      recursive: true,
    });
    running.controller.abort("released");
    await vi.waitFor(() => expect(worker.lines.join()).toContain("has left files"), HANG_MS);
    const next = server.execute(await server.place(), { token: "t2", jobId: JOB + 1 });
    await ended(next);
    expect(next.told).toMatchObject([{ kind: "succeeded" }]);
  });
});

describe("the disk of a remote worker", () => {
  const folderOf = (run: number, name = "w1"): string =>
    join(server.folder, "workers", name, "work", `run-${run}`);
  const run = (id: number, finishedAt: number | null): RunRow => ({ id, finished_at: finishedAt }) as RunRow;

  it("is rid of what runs have left there some time after their end, unless it works for them", async () => {
    const past = Date.now() - KEPT_AFTER_END_MS;
    server.runs = [run(1, past), run(2, past), run(3, Date.now()), run(4, null)];
    for (const id of [2, 3, 4, 5]) mkdirSync(folderOf(id), { recursive: true });
    await server.start(300);
    server.work({ slots: 1 });
    const gate = join(server.folder, "gate");
    const running = server.execute(await server.place(NEEDS), {
      action: command(`until test -f ${gate}; do sleep 0.05; done`),
    });
    await vi.waitFor(() => expect(existsSync(folderOf(2))).toBe(false), HANG_MS);
    expect([1, 3, 4, 5].map((id) => existsSync(folderOf(id)))).toEqual([true, true, true, true]);
    writeFileSync(gate, "");
    await ended(running);
    commit(running);
    await vi.waitFor(() => expect(existsSync(folderOf(1))).toBe(false), HANG_MS);
    await vi.waitFor(
      () => expect(readdirSync(join(folderOf(3), ".."))).toEqual(["run-3", "run-4", "run-5"]),
      HANG_MS,
    );
  });

  it("is rid of what dead workers have left, but not of what living ones have", async () => {
    server.runs = [run(7, Date.now() - KEPT_AFTER_END_MS), run(8, null)];
    const workers = join(server.folder, "workers");
    const dead = JSON.stringify({ ...ownerNow(), pid: 2 ** 22 + 1 });
    const logs = (name: string): string => join(workers, name, "output", "job_stdio");
    for (const name of ["dead", "w1", "alive", "gone"]) {
      mkdirSync(join(logs(name), "run-8"), { recursive: true });
      if (name !== "gone") mkdirSync(folderOf(8, name), { recursive: true });
      writeFileSync(join(logs(name), "run-8", "job_wf1_j1_r8_a1.o"), "never delivered");
      writeFileSync(
        join(workers, name, "process-0.json"),
        name === "alive" ? JSON.stringify(ownerNow()) : dead,
      );
    }
    mkdirSync(folderOf(7, "dead"));
    mkdirSync(join(workers, "empty"));
    await server.start(300);
    server.work();
    await server.place();
    expect(existsSync(logs("dead"))).toBe(false);
    expect(readdirSync(logs("w1"))).toEqual([]);
    expect(readdirSync(logs("alive"))).toHaveLength(1);
    await vi.waitFor(() => expect(existsSync(folderOf(7, "dead"))).toBe(false), HANG_MS);
    for (const name of ["dead", "w1", "alive"]) expect(existsSync(folderOf(8, name))).toBe(true);
    await vi.waitFor(() => expect(readdirSync(workers).sort()).toEqual(["alive", "dead", "w1"]), HANG_MS);
  });
});
