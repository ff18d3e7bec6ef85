import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FIRST_QUARANTINE_MS } from "../../src/core/quarantine/quarantine.js";
import { failsAtOnce, HealthBench, works } from "../support/health-bench.js";

const MINUTE = 60_000;
const ONE = "steps: { a: { exec: make, on_fail: { retry: { max: 2 } } } }";
const chain = (steps: number, retry = "max: 2"): string =>
  `steps:\n${Array.from(
    { length: steps },
    (_, at) =>
      `  s${at}: { exec: make, on_fail: { retry: { ${retry} } }${at === 0 ? "" : `, depends_on: s${at - 1}`} }`,
  ).join("\n")}`;
const fan = (steps: number): string =>
  `steps:\n${Array.from({ length: steps }, (_, at) => `  s${at}: { exec: make, on_fail: { retry: { max: 2 } } }`).join("\n")}`;

let bench: HealthBench;
beforeEach(() => {
  bench = new HealthBench();
});
afterEach(() => bench.close());

/** `bad` has two slots, so that a chain of steps always begins there as long as it may. */
function badAndGood(slots = 2) {
  const server = bench.serve();
  const bad = bench.worker("bad", server, failsAtOnce, { slots });
  const good = bench.worker("good", server, works);
  return { server, bad, good };
}

describe("a worker that fails what another completes", () => {
  it("is quarantined with the third job, and gets nothing from then on", { tags: ["H1"] }, async () => {
    const { server } = badAndGood();
    const runId = await bench.start(server, chain(5));
    await bench.pass(1_000);
    const failedThere = ["bad failed", "good ok elsewhere"];
    expect(await bench.attempts(runId)).toEqual([
      ...failedThere,
      ...failedThere,
      ...failedThere,
      "good ok",
      "good ok",
    ]);
    const { quarantine } = await bench.health("bad");
    expect(quarantine).toMatchObject({ forMs: FIRST_QUARANTINE_MS, times: 1, probationAt: null });
    expect(
      quarantine?.jobs.map(({ step, attempt, code, completedOn }) => [step, attempt, code, completedOn]),
    ).toEqual(["s0", "s1", "s2"].map((step) => [step, 1, "EXIT_1", expect.stringMatching(/^good\//)]));
    expect(server.told.join()).toMatch(/worker bad is in quarantine for 10 min: jobs failed/);
  });

  it("is judged by three jobs in a row: one that it completes in between begins the count anew", {
    tags: ["H1"],
  }, async () => {
    const { server, bad } = badAndGood();
    bad.behaviour = ({ stepId }) => ({ ok: stepId === "s2", ms: 1 });
    const runId = await bench.start(server, chain(6));
    await bench.pass(2_000);
    const failedThere = ["bad failed", "good ok elsewhere"];
    expect(await bench.attempts(runId)).toEqual([
      ...failedThere,
      ...failedThere,
      "bad ok",
      ...failedThere,
      ...failedThere,
      ...failedThere,
    ]);
    expect((await bench.health("bad")).quarantine?.jobs.map(({ step }) => step)).toEqual(["s3", "s4", "s5"]);
  });

  it("is not blamed for jobs that fail everywhere", { tags: ["H2"] }, async () => {
    const { server, good } = badAndGood();
    good.behaviour = failsAtOnce;
    await bench.start(server, fan(6));
    await bench.pass(1_000);
    expect((await bench.health("bad")).quarantine).toBe(null);
    expect((await bench.health("good")).quarantine).toBe(null);
  });

  it("is not blamed for jobs that failed on another one too before they were completed", {
    tags: ["H2"],
  }, async () => {
    const server = bench.serve();
    bench.worker("bad", server, failsAtOnce, { slots: 3 });
    const met = new Set<number>();
    const second = ({ jobId }: { readonly jobId: number }) => {
      const ok = met.has(jobId);
      met.add(jobId);
      return { ok, ms: 1 };
    };
    bench.worker("other", server, second, { slots: 2 });
    const runId = await bench.start(server, chain(5, "max: 3"));
    await bench.pass(2_000);
    const attempts = await bench.attempts(runId);
    const ended = (how: string): number => attempts.filter((each) => each.startsWith(how)).length;
    expect([ended("bad ok"), ended("other failed"), ended("other ok")]).toEqual([0, 5, 5]);
    expect(ended("bad failed")).toBeGreaterThanOrEqual(5);
    for (const name of ["bad", "other"]) expect((await bench.health(name)).quarantine ?? null).toBe(null);
  });

  it("is not blamed for an outage that is over when others complete what it failed", {
    tags: ["H2"],
  }, async () => {
    const server = bench.serve();
    let isDown = true;
    const alike = () => ({ ok: !isDown, ms: 1 });
    bench.worker("one", server, alike, { slots: 4 });
    const retry = "retry: { max: 5, backoff: { mode: fixed, delay_ms: 1000 } }";
    const steps = Array.from({ length: 4 }, (_, at) => `  s${at}: { exec: make, on_fail: { ${retry} } }`);
    const runId = await bench.start(server, `steps:\n${steps.join("\n")}`);
    await bench.pass(500);
    isDown = false;
    bench.worker("two", server, alike, { slots: 8 });
    await bench.pass(2_000);
    expect(await bench.attempts(runId)).toEqual([...Array(4).fill("one failed"), ...Array(4).fill("two ok")]);
    expect((await bench.health("one")).quarantine).toBe(null);
  });

  it("is not blamed for attempts that were lost with it", { tags: ["H2"] }, async () => {
    const server = bench.serve();
    const bad = bench.worker("bad", server, () => null, { slots: 4 });
    const runId = await bench.start(server, fan(4));
    bench.worker("good", server, works, { slots: 4 });
    bad.leave();
    await bench.pass(200_000, 10_000);
    expect(await bench.attempts(runId)).toHaveLength(8);
    expect((await bench.health("bad")).quarantine).toBe(null);
  });

  it("comes after the others once its last three jobs failed, though it has the most room", {
    tags: ["H3"],
  }, async () => {
    const server = bench.serve();
    bench.worker("bad", server, failsAtOnce, { slots: 8 });
    bench.worker("good", server, (each) => ({ ok: each.stepId !== "broken", ms: 10 }), { slots: 2 });
    const steps = ["b0", "b1", "b2"].map((id) => `  ${id}: { exec: make }`).join("\n");
    await bench.start(server, `steps:\n${steps}`);
    await bench.pass(100);
    const runId = await bench.start(server, ONE);
    await bench.pass(200);
    expect(await bench.attempts(runId)).toEqual(["good ok"]);
    expect((await bench.health("bad")).quarantine).toBe(null);
  });
});

describe("the last worker that could run a step", () => {
  it("gets it though it is in quarantine, and says so", { tags: ["H4"] }, async () => {
    const { server, good } = badAndGood();
    await bench.start(server, chain(3));
    await bench.pass(1_000);
    expect((await bench.health("bad")).quarantine).not.toBe(null);
    good.leave();
    const runId = await bench.start(server, ONE);
    await bench.pass(1_000);
    expect(await bench.attempts(runId)).toEqual(["bad failed only", "bad failed only", "bad failed only"]);
  });

  it("is asked for the tags: others that lack them do not count", { tags: ["H4"] }, async () => {
    const server = bench.serve();
    bench.worker("bad", server, failsAtOnce, { slots: 2, tags: ["gpu"] });
    bench.worker("good", server, works);
    await bench.start(server, chain(3));
    await bench.pass(1_000);
    const gpu = "steps: { a: { exec: make, runs_on: gpu } }";
    const runId = await bench.start(server, gpu);
    await bench.pass(100);
    expect(await bench.attempts(runId)).toEqual(["bad failed only"]);
    // One that is busy counts: the job waits for it.
    const busy = bench.worker("busy", server, () => ({ ok: true, ms: 500 }), { tags: ["gpu"] });
    const both = [await bench.start(server, gpu), await bench.start(server, gpu)];
    await bench.pass(2_000);
    for (const each of both) expect(await bench.attempts(each)).toEqual(["busy ok"]);
    busy.leave();
  });

  it("is the server's own where it takes steps, which is never quarantined itself", {
    tags: ["H4"],
  }, async () => {
    const server = bench.serve(1);
    bench.worker("bad", server, failsAtOnce, { slots: 2 });
    expect(server.pool.list().map(({ name }) => name)).toEqual(["local-1", expect.stringMatching(/^bad/)]);
    expect(server.board.states().has("local-1")).toBe(false);
  });
});

describe("probation", () => {
  async function quarantined() {
    const found = badAndGood();
    await bench.start(found.server, chain(3));
    await bench.pass(1_000);
    const { quarantine } = await bench.health("bad");
    return { ...found, until: quarantine!.until };
  }

  /** The first job that could be the probation asks for it, and the next one is it. */
  async function ask(server: Parameters<HealthBench["start"]>[0]): Promise<void> {
    const runId = await bench.start(server, ONE);
    await bench.pass(200);
    expect(await bench.attempts(runId)).toEqual(["good ok"]);
  }

  it("is one attempt after ten minutes, of a job that would be made again; its success frees the worker", {
    tags: ["H5"],
  }, async () => {
    const { server, bad, until } = await quarantined();
    bad.behaviour = () => ({ ok: true, ms: 1_000 });
    await bench.pass(until - bench.clock.now() - 1, 30_000);
    const early = await bench.start(server, ONE);
    await bench.pass(1);
    expect(await bench.attempts(early)).toEqual(["good running"]);
    await bench.pass(200);
    await ask(server);
    const noRetries = await bench.start(server, "steps: { a: { exec: make } }");
    const runs = [await bench.start(server, ONE), await bench.start(server, ONE)];
    await bench.pass(500);
    expect(await bench.attempts(noRetries)).toEqual(["good ok"]);
    expect(await bench.attempts(runs[0]!)).toEqual(["bad running probation"]);
    expect(await bench.attempts(runs[1]!)).toEqual(["good ok"]);
    await bench.pass(1_000);
    const { quarantine, freed } = await bench.health("bad");
    expect([quarantine, freed]).toMatchObject([null, { by: null, reason: "its probation succeeded" }]);
    const after = await bench.start(server, ONE);
    await bench.pass(2_000);
    expect(await bench.attempts(after)).toEqual(["bad ok"]);
  });

  it("that fails doubles the quarantine, and the job is completed elsewhere", { tags: ["H5"] }, async () => {
    const { server, until } = await quarantined();
    await bench.pass(until - bench.clock.now(), 30_000);
    await ask(server);
    const runId = await bench.start(server, ONE);
    await bench.pass(1_000);
    expect(await bench.attempts(runId)).toEqual(["bad failed probation", "good ok"]);
    const { quarantine } = await bench.health("bad");
    expect(quarantine).toMatchObject({ times: 2, forMs: 2 * FIRST_QUARANTINE_MS, probationAt: null });
    const left = quarantine!.until - bench.clock.now();
    expect([left > 19 * MINUTE, left <= 20 * MINUTE]).toEqual([true, true]);
    await bench.pass(left - 1_000, 30_000);
    await ask(server);
    await ask(server);
    await bench.pass(2_000);
    await ask(server);
    const second = await bench.start(server, ONE);
    await bench.pass(1_000);
    expect(await bench.attempts(second)).toEqual(["bad failed probation", "good ok"]);
    expect((await bench.health("bad")).quarantine).toMatchObject({
      times: 3,
      forMs: 4 * FIRST_QUARANTINE_MS,
    });
  });

  it("whose attempt was lost tells nothing: the next job is the probation", { tags: ["H5"] }, async () => {
    const { server, bad, until } = await quarantined();
    bad.behaviour = () => null;
    await bench.pass(until - bench.clock.now(), 30_000);
    await ask(server);
    const runId = await bench.start(server, ONE);
    await bench.pass(100);
    expect(await bench.attempts(runId)).toEqual(["bad running probation"]);
    bad.leave();
    await bench.pass(1_000);
    expect((await bench.health("bad")).quarantine).toMatchObject({ times: 1, probationAt: null });
  });

  it("of a worker that was started again is the same worker's: its name counts", {
    tags: ["H6"],
  }, async () => {
    const { server, bad } = await quarantined();
    bad.leave();
    bench.worker("bad", server, works, { slots: 8 }, 2);
    const runId = await bench.start(server, ONE);
    await bench.pass(1_000);
    expect(await bench.attempts(runId)).toEqual(["good ok"]);
  });
});

describe("clocks that jump", () => {
  it.each([
    ["back by a year", -365 * 24 * 60 * MINUTE],
    ["forward by a year", 365 * 24 * 60 * MINUTE],
  ])("do not change how long a quarantine is: %s", { tags: ["H6"] }, async (_name, byMs) => {
    const { server } = badAndGood();
    await bench.start(server, chain(3));
    await bench.pass(1_000);
    bench.clock.set(byMs);
    await bench.pass(FIRST_QUARANTINE_MS - 30_000, 10_000);
    for (let job = 0; job < 2; job += 1) {
      const early = await bench.start(server, ONE);
      await bench.pass(1_000);
      expect(await bench.attempts(early)).toEqual(["good ok"]);
    }
    await bench.pass(30_000, 10_000);
    await bench.start(server, ONE);
    await bench.pass(1_000);
    const late = await bench.start(server, ONE);
    await bench.pass(1_000);
    expect(await bench.attempts(late)).toEqual(["bad failed probation", "good ok"]);
  });
});

describe("several servers, one after another and side by side", () => {
  it("keep a quarantine when the server is killed and started again", { tags: ["H6"] }, async () => {
    const { server, bad, good } = badAndGood();
    await bench.start(server, chain(3));
    await bench.pass(1_000);
    server.dead = true;
    const next = bench.serve();
    bad.connect(next);
    good.connect(next);
    const runId = await bench.start(next, ONE);
    await bench.pass(1_000);
    expect(await bench.attempts(runId)).toEqual(["good ok"]);
  });

  it("know it of a worker that comes to another server, from its first attempt on", {
    tags: ["H6"],
  }, async () => {
    const { server, bad } = badAndGood();
    const other = bench.serve();
    bench.worker("third", other, works);
    await bench.start(server, chain(3));
    await bench.pass(1_000);
    bad.leave();
    bad.connect(other);
    const runs = [await bench.start(other, ONE), await bench.start(other, ONE)];
    await bench.pass(1_000);
    for (const each of runs) expect(await bench.attempts(each)).toEqual(["third ok"]);
  });

  it("hear of it when it is ended by hand", { tags: ["H6"] }, async () => {
    const { server } = badAndGood();
    await bench.start(server, chain(3));
    await bench.pass(1_000);
    const { rows } = await bench.store.readShared("worker", ["bad"], bench.clock.now());
    const freed = { at: bench.clock.now(), by: "ada", reason: "new disk" };
    await bench.store.writeShared([{ ...rows[0]!, data: JSON.stringify({ quarantine: null, freed }) }]);
    await bench.settle();
    const runId = await bench.start(server, ONE);
    await bench.pass(1_000);
    expect(await bench.attempts(runId)).toEqual(["bad failed", "good ok elsewhere"]);
    expect(server.told.at(-1)).toBe("worker bad gets attempts again: new disk");
  });
});
