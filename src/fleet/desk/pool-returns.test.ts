import { describe, expect, it } from "vitest";
import {
  held,
  JOB,
  LEASE_MS,
  LOST,
  NEEDS,
  PoolBench,
  registration,
  report,
  settle,
  tokensOf,
} from "../../../test/support/pool-bench.js";
import type { AttemptRow } from "../../core/model/rows.js";

const bench = new PoolBench();
const RUNNING = { job_id: JOB, attempt: 1, run_id: 1, token: "t1", status: "running" } as AttemptRow;

describe("a worker that takes nothing new", () => {
  it("still gets what was placed on it before, as long as it asks", async () => {
    const id = bench.register();
    const commit = bench.begin();
    const claim = bench.claim(id);
    bench.desk.heartbeat(id, { attempts: [], draining: true });
    const running = commit();
    expect(tokensOf(await claim)).toEqual(["t1"]);
    bench.desk.heartbeat(id, { attempts: [held()], draining: true });
    await settle();
    expect(running.told).toEqual([]);
  });

  it("loses at once what it does not ask for, be it committed before the word came or after", async () => {
    const id = bench.register();
    const early = bench.execute();
    const commit = bench.begin({ token: "t2" });
    bench.clock.advance(5_000);
    bench.desk.heartbeat(id, { attempts: [], draining: true });
    const late = commit();
    await settle();
    expect(early.told).toMatchObject([LOST]);
    expect(late.told).toMatchObject([LOST]);
    expect(bench.pool.list()[0]?.attempts).toEqual([]);
  });

  it("that is between two claims is given the time to ask again", async () => {
    const id = bench.register();
    const [first, second] = [bench.begin(), bench.begin({ token: "t2" })];
    void bench.claim(id, 0);
    bench.clock.advance(0);
    bench.desk.heartbeat(id, { attempts: [], draining: true });
    const asked = first();
    expect(tokensOf(await bench.claim(id, 0))).toEqual(["t1"]);
    const forgotten = second();
    bench.clock.advance(4_999);
    await settle();
    expect([asked.told, forgotten.told]).toEqual([[], []]);
    bench.clock.advance(1);
    await settle();
    expect(asked.told).toEqual([]);
    expect(forgotten.told).toMatchObject([LOST]);
  });

  it("keeps what it may have: the answer that brought it need not be lost", async () => {
    const { id, running } = await bench.deliver();
    bench.register({ draining: true });
    bench.clock.advance(5_000);
    bench.desk.heartbeat(id, { attempts: [], draining: true });
    await settle();
    expect(running.told).toEqual([]);
    expect(tokensOf(await bench.claim(id))).toEqual(["t1"]);
  });

  it("gets nothing after it has registered again", () => {
    bench.register({ draining: true });
    expect(bench.pool.place(NEEDS)).toBe("full");
  });
});

describe("a worker that was struck off and comes back", () => {
  it("gets the attempt whose start was being committed meanwhile", async () => {
    bench.register();
    const commit = bench.begin();
    bench.clock.advance(LEASE_MS);
    const id = bench.register();
    commit();
    expect(tokensOf(await bench.claim(id))).toEqual(["t1"]);
  });

  it("that does not come back loses the attempt whose start was being committed", async () => {
    bench.register();
    const commit = bench.begin();
    bench.clock.advance(LEASE_MS);
    const running = commit();
    await settle();
    expect(running.told).toMatchObject([LOST]);
  });

  it("keeps the result that was being committed, for whoever has the run next", async () => {
    const { id, running } = await bench.deliver();
    const first = bench.desk.report(id, [report()]);
    await settle();
    bench.clock.advance(LEASE_MS);
    expect(bench.desk.register(registration({ attempts: [held()] }))).toMatchObject({
      renewed: ["t1"],
      lost: [],
    });
    bench.rows = [RUNNING];
    running.settle("not_owned");
    expect(await first).toMatchObject([{ outcome: "retry" }]);
    const next = bench.adopt();
    expect(bench.desk.heartbeat(id, { attempts: [held()], draining: false })).toMatchObject({
      renewed: ["t1"],
      lost: [],
    });
    const second = bench.desk.report(id, [report()]);
    await settle();
    next.settle("committed");
    expect(await second).toEqual([{ token: "t1", outcome: "accepted" }]);
  });

  it("too late: what nobody could commit is expected for another lease, and no longer", async () => {
    const { id, running } = await bench.deliver();
    void bench.desk.report(id, [report()]);
    await settle();
    bench.clock.advance(LEASE_MS);
    const next = bench.adopt();
    running.settle("not_owned");
    await settle();
    bench.clock.advance(LEASE_MS - 1);
    await settle();
    expect(next.told).toEqual([]);
    bench.clock.advance(1);
    await settle();
    expect(next.told).toMatchObject([LOST]);
  });
});

describe("an attempt that was lost", () => {
  it("while nobody waited for it is not over: the store decides", async () => {
    const { id, running } = await bench.deliver();
    running.controller.abort("released");
    await settle();
    bench.clock.advance(LEASE_MS);
    bench.rows = [RUNNING];
    expect(bench.desk.register(registration({ attempts: [held()] }))).toMatchObject({ lost: [] });
    expect(await bench.desk.report(id, [report()])).toMatchObject([{ outcome: "retry" }]);
    const next = bench.adopt();
    void bench.desk.report(id, [report()]);
    await settle();
    expect(next.told).toMatchObject([{ kind: "succeeded" }]);
  });

  it("is over only once that is on record", async () => {
    const { id, running } = await bench.deliver();
    bench.clock.advance(LEASE_MS);
    await settle();
    expect(running.told).toMatchObject([LOST]);
    bench.rows = [RUNNING];
    running.settle("not_owned");
    expect(bench.desk.register(registration({ attempts: [held()] }))).toMatchObject({ lost: [] });
    expect(await bench.desk.report(id, [report()])).toMatchObject([{ outcome: "retry" }]);
  });

  it("and begins again under the same token, as recovery scripts do, is not taken for the lost one", async () => {
    const { running } = await bench.deliver();
    bench.clock.advance(LEASE_MS);
    await settle();
    running.settle("committed");
    const id = bench.register();
    const again = bench.execute();
    await bench.claim(id);
    again.controller.abort("released");
    bench.clock.advance(LEASE_MS);
    expect(bench.desk.register(registration({ attempts: [held()] }))).toMatchObject({ lost: [] });
  });
});

describe("the clock on the wall", () => {
  it("may be set back: a silent worker is struck off all the same", async () => {
    const { running } = await bench.deliver();
    bench.clock.set(-3_600_000);
    bench.clock.advance(LEASE_MS);
    await settle();
    expect(running.told).toMatchObject([LOST]);
  });

  it("may be set forward: a worker that was heard of just now is present and keeps its attempts", async () => {
    const { id, running } = await bench.deliver();
    bench.clock.set(3_600_000);
    expect(bench.pool.place(NEEDS)).not.toBe("full");
    bench.clock.advance(LEASE_MS - 1);
    await settle();
    expect(running.told).toEqual([]);
    expect(bench.pool.list()[0]).toMatchObject({ id });
  });

  it("does not keep a claim open, nor an adopted attempt waiting", async () => {
    const id = bench.register();
    const claim = bench.claim(id, 1_000);
    const gone = bench.adopt({ worker: "w2/bbbbbbbb", token: "t2" });
    bench.clock.set(-3_600_000);
    bench.clock.advance(1_000);
    expect(tokensOf(await claim)).toEqual([]);
    bench.clock.advance(LEASE_MS);
    await settle();
    expect(gone.told).toMatchObject([LOST]);
  });
});

describe("the room of a worker that comes to a new server", () => {
  it("is what its attempts leave, also before their runs have been taken", async () => {
    const id = bench.register({ attempts: [held("x"), held("y")] });
    let rooms = 0;
    bench.pool.onRoom(() => {
      rooms += 1;
    });
    expect(bench.pool.place(NEEDS)).toBe("full");
    expect(bench.pool.list()[0]?.used).toBe(2);
    bench.desk.heartbeat(id, { attempts: [held("x"), { ...held("z"), recovery: true }], draining: false });
    expect(rooms).toBe(1);
    expect(bench.pool.place(NEEDS)).not.toBe("full");
    expect(bench.pool.place(NEEDS)).toBe("full");
  });

  it("appears when the result of an attempt that nobody asked for is answered", async () => {
    const id = bench.register({ slots: 1, attempts: [held()] });
    let rooms = 0;
    bench.pool.onRoom(() => {
      rooms += 1;
    });
    bench.rows = [RUNNING];
    await bench.desk.report(id, [report()]);
    expect(rooms).toBe(0);
    bench.rows = [{ ...RUNNING, status: "succeeded", error: null }];
    await bench.desk.report(id, [report()]);
    expect(rooms).toBe(1);
    expect(bench.pool.place(NEEDS)).not.toBe("full");
  });

  it("is less what the adopted attempt asked for", () => {
    bench.register({ slots: 4, attempts: [held()] });
    bench.adopt({ needs: { ...NEEDS, slots: 3, cpus: 3, memoryBytes: 900 } });
    expect(bench.pool.list()[0]?.used).toBe(3);
    expect(bench.pool.place({ ...NEEDS, memoryBytes: 200 })).toBe(null);
    expect(bench.pool.place({ ...NEEDS, cpus: 2 })).toBe(null);
    expect(bench.pool.place(NEEDS)).toMatchObject({ worker: "w1/aaaaaaaa" });
    expect(bench.pool.place(NEEDS)).toBe("full");
  });
});

describe("a recovery script", () => {
  it("of an attempt of the server itself is found on the worker where it runs", async () => {
    const script = { token: "t1-recovery", worker: "local-77", recovery: true };
    const id = bench.register({ attempts: [{ ...held(script.token), recovery: true }] });
    const running = bench.adopt(script);
    expect(
      bench.desk.heartbeat(id, { attempts: [{ ...held(script.token), recovery: true }], draining: false }),
    ).toMatchObject({ renewed: [script.token] });
    expect(running.told).toEqual([]);
  });

  it("that runs again under its token before its worker is answered is heard as well", async () => {
    const script = { token: "t1-recovery", recovery: true } as const;
    const id = bench.register();
    const lost = bench.execute(script);
    await bench.claim(id);
    const facts = { evicted: true, exitCode: 143, message: "stopped" };
    const said = { ...held(script.token), recovery: true };
    const answer = bench.desk.report(id, [report({ ...said, outcome: { kind: "failed", facts } })]);
    await settle();
    expect(lost.told).toMatchObject([{ kind: "failed" }]);
    const again = bench.execute(script);
    lost.settle("committed");
    expect(await answer).toEqual([{ token: script.token, outcome: "accepted" }]);
    expect(tokensOf(await bench.claim(id))).toEqual([script.token]);
    void bench.desk.report(id, [report(said)]);
    await settle();
    expect(again.told).toMatchObject([{ kind: "succeeded" }]);
  });
});
