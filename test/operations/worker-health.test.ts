import { describe, expect, it } from "vitest";
import type { WorkerHealth } from "../../src/core/quarantine/quarantine.js";
import { callIn, OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();
const MINUTE = 60_000;
const JOBS = [1, 2, 3].map((run) => ({
  run,
  job: run * 10_000_000,
  step: "build",
  attempt: 1,
  code: "EXIT_1",
  completedOn: "b/00000002",
}));

async function putHealth(name: string, health: WorkerHealth): Promise<void> {
  const { store, now } = bench.context;
  const { rows } = await store.readShared("worker", [name], now());
  const revision = rows[0]?.revision ?? 0;
  await store.writeShared([{ kind: "worker", name, revision, data: JSON.stringify(health) }]);
}

function quarantinedFrom(since: number): WorkerHealth {
  const forMs = 10 * MINUTE;
  return {
    quarantine: { since, until: since + forMs, forMs, times: 1, jobs: JOBS, probationAt: null },
    freed: null,
  };
}

describe("list_workers", () => {
  it("says that the server's own worker is healthy and answers to no name", async () => {
    const { items } = await bench.call("list_workers", {});
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ connected: true, health: { name: null, state: "healthy", jobs: [] } });
  });

  it("shows a quarantine with its end and its jobs, also of a worker that is not connected", {
    tags: ["H8"],
  }, async () => {
    const since = bench.context.now();
    await putHealth("gpu-1", quarantinedFrom(since));
    const { items } = await bench.call("list_workers", {});
    expect(items.find(({ name }) => name === "gpu-1")).toMatchObject({
      connected: false,
      health: {
        name: "gpu-1",
        state: "quarantined",
        since: new Date(since).toISOString(),
        until: new Date(since + 10 * MINUTE).toISOString(),
        times: 1,
        jobs: JOBS.map(({ run, job }) => ({
          run_id: run,
          job_id: job,
          step: "build",
          attempt: 1,
          code: "EXIT_1",
          completed_on: "b/00000002",
        })),
      },
    });
  });

  it("says `probation` once the quarantine is over", async () => {
    await putHealth("gpu-2", quarantinedFrom(bench.context.now() - 10 * MINUTE));
    const { items } = await bench.call("list_workers", {});
    const { health } = items.find(({ name }) => name === "gpu-2")!;
    expect(health).toMatchObject({ state: "probation", until: null });
  });
});

describe("release_worker", () => {
  it("ends a quarantine with a reason, and says so the second time", { tags: ["H8"] }, async () => {
    await putHealth("slurm/node7", quarantinedFrom(bench.context.now()));
    const release = { name: "slurm/node7", reason: "new disk" };
    const context = bench.withoutRunner;
    const done = await callIn(context, "release_worker", release);
    expect(done).toEqual({ name: "slurm/node7", was: "quarantined", state: "healthy" });
    const again = await callIn(context, "release_worker", release);
    expect(again).toEqual({ name: "slurm/node7", was: "healthy", state: "healthy" });
    const { rows } = await context.store.readShared("worker", ["slurm/node7"], context.now());
    expect(JSON.parse(rows[0]!.data)).toMatchObject({
      quarantine: null,
      freed: { by: "tester", reason: "new disk" },
    });
  });

  it("refuses a name that nobody has", async () => {
    const release = bench.call("release_worker", { name: "nobody", reason: "x" });
    expect(await refusalOf(release)).toBe("WORKER_NOT_FOUND");
  });
});
