import { describe, expect, it } from "vitest";
import {
  held,
  JOB,
  LEASE_MS,
  LOST,
  PoolBench,
  type Running,
  registration,
  report,
  settle,
  tokensOf,
} from "../../../test/support/pool-bench.js";

const bench = new PoolBench();
const NEXT = { token: "t2", jobId: JOB + 1 };

/** As the engine does: the end of one attempt and the start of the next are in one commit. */
function commit(running: Running): Running {
  running.settle("committed");
  return bench.execute(NEXT);
}

/** A worker whose first attempt has ended; its report is being committed. */
async function reported() {
  const { id, running } = await bench.deliver();
  const waiting = bench.claim(id);
  const answer = bench.reportAndClaim(id, report());
  await settle();
  return { id, running, waiting, answer };
}

describe("the answer to a report", () => {
  it("brings what the report has made ready, and the claim goes on waiting", async () => {
    const { id, running, waiting, answer } = await reported();
    commit(running);
    expect(await answer).toMatchObject({ results: [{ token: "t1", outcome: "accepted" }], stop: [] });
    expect(tokensOf(await answer)).toEqual(["t2"]);
    bench.execute({ token: "t3", jobId: JOB + 2 });
    expect(tokensOf(await waiting)).toEqual(["t3"]);
    expect(bench.pool.list()[0]).toMatchObject({ id, used: 2 });
  });

  it("names what is to be stopped", async () => {
    const { id } = await bench.deliver();
    const other = bench.execute(NEXT);
    await bench.claim(id);
    const answer = bench.reportAndClaim(id, report({ ...held("t9"), job: JOB + 9 }));
    other.controller.abort("stopped");
    expect(await answer).toMatchObject({ assignments: [], stop: ["t2"] });
  });

  it("leaves it to the claim where the commit is still under way", async () => {
    const { waiting, answer, running } = await reported();
    bench.execute(NEXT);
    expect(tokensOf(await waiting)).toEqual(["t2"]);
    running.settle("committed");
    expect(tokensOf(await answer)).toEqual([]);
  });

  it("brings nothing to a worker that did not ask", async () => {
    const { id, running } = await bench.deliver();
    const answer = bench.desk.reportAndClaim(id, { reports: [report()] });
    await settle();
    commit(running);
    expect(await answer).toMatchObject({ results: [{ outcome: "accepted" }], assignments: [] });
    expect(tokensOf(await bench.claim(id))).toEqual(["t2"]);
  });

  it("brings nothing where nobody is there to read it", async () => {
    const { id, running } = await bench.deliver();
    const { session } = bench.desk.register(registration({ attempts: [held()] }));
    const waiting = bench.desk.claim(id, { session });
    const answer = bench.desk.reportAndClaim(id, { reports: [report()], session }, () => true);
    await settle();
    commit(running);
    expect(tokensOf(await answer)).toEqual([]);
    expect(tokensOf(await waiting)).toEqual(["t2"]);
  });
});

describe("an answer that never arrived", () => {
  it("loses nothing: the worker registers without what it brought and is given it again, once", async () => {
    const { id, running, answer } = await reported();
    const next = commit(running);
    await answer;
    bench.register();
    expect(tokensOf(await bench.claim(id))).toEqual(["t2"]);
    bench.desk.heartbeat(id, { attempts: [held("t2")], draining: false });
    const waiting = bench.claim(id);
    bench.clock.advance(25_000);
    expect(tokensOf(await waiting)).toEqual([]);
    expect(next.told).toEqual([]);
  });

  it("is not believed lost while it may be on its way: a claim alone brings nothing again", async () => {
    const { id, running, answer } = await reported();
    commit(running);
    await answer;
    const claim = bench.claim(id);
    bench.desk.heartbeat(id, { attempts: [], draining: false });
    bench.clock.advance(25_000);
    expect(tokensOf(await claim)).toEqual([]);
  });

  it("of a worker that died ends with its lease", async () => {
    const { running, answer } = await reported();
    const next = commit(running);
    await answer;
    bench.clock.advance(LEASE_MS - 1);
    await settle();
    expect(next.told).toEqual([]);
    bench.clock.advance(1);
    await settle();
    expect(next.told).toMatchObject([LOST]);
  });

  it("is not the one that arrived: what the worker names is not given to it again", async () => {
    const { id, running, answer } = await reported();
    commit(running);
    await answer;
    bench.register({ attempts: [held("t2")] });
    const claim = bench.claim(id);
    bench.clock.advance(25_000);
    expect(tokensOf(await claim)).toEqual([]);
  });
});

describe("a worker that has registered again", () => {
  it("is given nothing in answers to what it asked before: it may no longer wait for them", async () => {
    const { id, running, answer } = await reported();
    bench.register({ attempts: [held()] });
    commit(running);
    expect(await answer).toMatchObject({ results: [{ outcome: "accepted" }], assignments: [] });
    expect(tokensOf(await bench.claim(id))).toEqual(["t2"]);
  });

  it("is given nothing by the claim that it had open before", async () => {
    const id = bench.register();
    const before = bench.claim(id);
    bench.register();
    bench.execute();
    expect(tokensOf(await before)).toEqual([]);
    expect(tokensOf(await bench.claim(id))).toEqual(["t1"]);
  });

  it("keeps its claim when an older one arrives late", async () => {
    const id = bench.register();
    const { session } = bench.desk.register(registration());
    bench.register();
    const waiting = bench.claim(id);
    expect(() => bench.desk.claim(id, { session })).toThrow("does not know the worker");
    bench.execute();
    expect(tokensOf(await waiting)).toEqual(["t1"]);
  });

  it("to another life of the server is given nothing in answers to the one before", async () => {
    const { id } = await bench.deliver();
    const { session } = bench.desk.register(registration({ attempts: [held()] }));
    bench.open();
    const running = bench.adopt();
    bench.register({ attempts: [held()] });
    const answer = bench.desk.reportAndClaim(id, { reports: [report()], session });
    await settle();
    commit(running);
    expect(await answer).toMatchObject({ results: [{ outcome: "accepted" }], assignments: [] });
  });
});
