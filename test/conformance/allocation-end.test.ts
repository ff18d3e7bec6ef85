import { describe, expect, it } from "vitest";
import { VERDICT_MS } from "../../src/fleet/desk/pool-attempt.js";
import { JOB, NEEDS, PoolBench, registration, report, settle } from "../support/pool-bench.js";

const bench = new PoolBench();
const PILOT = { tags: ["hpc"], allocation: "hpc/12", restart: 0, node: "node1" };

/** A pilot with attempts of these jobs under way. */
async function pilotWith(...jobs: readonly number[]) {
  const worker = bench.register(PILOT);
  const running = jobs.map((jobId) =>
    bench.execute({ jobId, token: `t${jobId}` }, { ...NEEDS, runtimeMs: 60_000 }),
  );
  await bench.claim(worker);
  return { worker, running };
}

const facts = (running: { readonly told: readonly unknown[] }) =>
  running.told.map((outcome) => (outcome as { facts: object }).facts);

function end(code: string, changes: object = {}): void {
  const message = `allocation 12: ${code}`;
  bench.pool.allocations.ended({
    ...{ allocation: "hpc/12", restart: 0, end: { code, message } as never, jobId: null },
    ...changes,
  });
}

describe("a worker that says that it runs in an allocation", () => {
  it("is believed only if it comes with the token that was made for that allocation", () => {
    const { pool, desk } = new PoolBench();
    desk.register(registration(PILOT), 7);
    expect([7, 8].map((token) => pool.allocations.hadPilot("hpc/12", 0, token))).toEqual([true, false]);
    expect([7, 8].map((token) => pool.allocations.isHere("hpc/12", token))).toEqual([true, false]);
  });
});

/** A pilot with the attempt of a job that is wider than a node, which was ended by a signal with its pilot. */
async function evictedWide() {
  const worker = bench.register({ ...PILOT, nodes: 2 });
  const running = bench.execute({}, { ...NEEDS, nodes: 2 });
  await bench.claim(worker);
  const facts = { evicted: true, signal: "SIGTERM", message: "ended with its worker" };
  const tell = async () =>
    (await bench.desk.report(worker, [report({ outcome: { kind: "failed", facts } })]))[0]!.outcome;
  return { worker, running, tell };
}

describe("a job that has an allocation to itself and is ended with its worker", () => {
  it("waits for what the scheduler says, and has failed if somebody canceled its allocation", async () => {
    const { worker, running, tell } = await evictedWide();
    expect(await tell()).toBe("retry");
    bench.desk.deregister(worker);
    bench.clock.advance(VERDICT_MS - 1);
    await settle();
    expect(running.told).toEqual([]);
    end("CANCELED", { jobId: JOB });
    await settle();
    expect(facts(running)).toEqual([{ code: "ALLOCATION_CANCELED", message: "allocation 12: CANCELED" }]);
  });

  it("is restarted if its allocation made room for a more important one", async () => {
    const { worker, running } = await evictedWide();
    bench.desk.deregister(worker);
    end("PREEMPTED", { jobId: JOB });
    await settle();
    expect(facts(running)).toEqual([{ lost: true, message: "allocation 12: PREEMPTED" }]);
  });

  it("is restarted when the scheduler has said nothing for a minute, whether its worker is gone or not", async () => {
    const gone = await evictedWide();
    bench.desk.deregister(gone.worker);
    bench.clock.advance(VERDICT_MS);
    await settle();
    expect(facts(gone.running)).toEqual([{ lost: true, message: "its worker has left" }]);
    bench.pool = bench.open();
    const here = await evictedWide();
    expect(await here.tell()).toBe("retry");
    bench.clock.advance(VERDICT_MS);
    void here.tell();
    await settle();
    expect(facts(here.running)).toMatchObject([{ evicted: true }]);
  });

  it("is restarted at once where it was never begun", async () => {
    const worker = bench.register({ ...PILOT, nodes: 2 });
    const running = bench.execute({}, { ...NEEDS, nodes: 2 });
    bench.desk.deregister(worker);
    await settle();
    expect(facts(running)).toEqual([{ lost: true, message: "its worker has left" }]);
  });
});

describe("when the scheduler has ended an allocation", () => {
  it("its attempts end at once, without a lease having to run out, and its worker is gone", async () => {
    const { running } = await pilotWith(JOB, JOB + 1);
    end("NODE_LOST");
    await Promise.resolve();
    for (const each of running)
      expect(facts(each)).toEqual([{ lost: true, message: "allocation 12: NODE_LOST" }]);
    expect(bench.pool.list()).toEqual([]);
    end("NODE_LOST");
    await Promise.resolve();
    expect(running.map(({ told }) => told.length)).toEqual([1, 1]);
  });

  it("for want of memory, the attempt that was alone in it has failed with OOM, neighbours are lost", async () => {
    const { running } = await pilotWith(JOB);
    end("OOM");
    await Promise.resolve();
    expect(facts(running[0]!)).toEqual([{ code: "OOM", exitCode: 137, message: "allocation 12: OOM" }]);
  });

  it("at its time limit, only who has passed his own runtime has failed with WALLTIME", async () => {
    const { running, worker } = await pilotWith(JOB);
    bench.clock.advance(60_000);
    bench.desk.heartbeat(worker, { attempts: [], draining: false });
    const late = bench.execute({ jobId: JOB + 1, token: "late" }, { ...NEEDS, runtimeMs: 60_000 });
    end("WALLTIME");
    await Promise.resolve();
    expect(facts(running[0]!)).toEqual([
      { code: "WALLTIME", exitCode: 152, message: "allocation 12: WALLTIME" },
    ]);
    expect(facts(late)).toEqual([{ lost: true, message: "allocation 12: WALLTIME" }]);
  });

  it("by somebody's hand, a job that had it for itself has failed for good", async () => {
    const { running } = await pilotWith(JOB);
    end("CANCELED", { jobId: JOB });
    await Promise.resolve();
    expect(facts(running[0]!)).toEqual([{ code: "ALLOCATION_CANCELED", message: "allocation 12: CANCELED" }]);
  });

  it("and has begun it again, the attempts of the new incarnation go on", async () => {
    bench.register({ ...PILOT, instance: "i".repeat(16), name: "again", restart: 1 });
    const running = bench.execute({ token: "t9" });
    end("REQUEUED");
    await Promise.resolve();
    expect(running.told).toEqual([]);
    expect(bench.pool.allocations.hadPilot("hpc/12", 1, null)).toBe(true);
    expect(bench.pool.allocations.hadPilot("hpc/12", 0, null)).toBe(false);
  });

  it("while the server was away, an attempt that is expected back from it ends at once, too", async () => {
    const at = { node: "node1", allocation: "hpc/12", restart: 0 };
    const held = {
      ...{ runId: 1, workflowId: 1, jobId: JOB, attempt: 1, token: "t1", worker: "hpc-12/abc" },
      ...{ recovery: false, needs: NEEDS, at },
    };
    const told: unknown[] = [];
    bench.pool.adopt(held, new AbortController().signal, (outcome) => told.push(outcome));
    end("VANISHED");
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    expect(told).toMatchObject([{ facts: { lost: true } }]);
  });
});
