import { afterAll, describe, expect, it } from "vitest";
import { createSandbox } from "../../src/run/sandbox/quickjs-sandbox.js";
import { composeMessage } from "../../src/tell/messages/compose-message.js";
import { failsAtOnce, HealthBench, works } from "../support/health-bench.js";
import { MINUTE, Town } from "../support/notice-town.js";
import type { Outcome } from "../support/scripted-worker.js";

const DOWN: Outcome = { facts: { httpStatus: 503, message: "HTTP status 503" } };
const PAY = `
name: pay
breakers: { api: { failures: 2, probe_every: 30s, max_open: 1h } }
notify: [{ on: [breaker, recovered], to: ops }]
steps: { charge: { exec: x, uses: [api], on_fail: { retry: { max: 3 } } } }
`;

describe("what runs share", () => {
  it("a breaker that opens is told once, and that it is closed again", { tags: ["N1", "N5"] }, async () => {
    const town = new Town([{ on: ["breaker"], to: ["all"], when: null }]);
    town.serve(["ops", "all"]);
    await town.run(PAY, [DOWN, DOWN, DOWN, "ok"], "charge");
    await town.pass(MINUTE);
    expect((await town.tells()).sort()).toEqual([
      "all: breaker of run 1, first 1",
      "ops: breaker of run 1, first 1",
      "ops: recovered of run 1, recovered 1",
    ]);
    const [opened] = town.received.filter(({ kind }) => kind === "breaker");
    expect(composeMessage(opened!, { page: null })).toMatchObject({
      subject: "Breaker pay/api is open",
      text: "Breaker pay/api is open (503 of charge in run 1). Steps that use it wait until it works again.\n\nWhat to do:\n  daruma breakers  # see what waits for it",
    });
    await town.run(PAY, [DOWN, DOWN, "ok"], "charge");
    await town.pass(MINUTE);
    expect((await town.tells()).filter((text) => text.startsWith("ops"))).toEqual([
      "ops: breaker of run 2, first 1",
      "ops: recovered of run 2, recovered 1",
    ]);
  });

  it("a worker in quarantine is told with its reason, in the transaction that quarantines it", {
    tags: ["N1"],
  }, async () => {
    const bench = new HealthBench();
    const server = bench.serve();
    bench.worker("bad", server, failsAtOnce, { slots: 2 });
    bench.worker("good", server, works);
    const step = (at: number) =>
      `  s${at}: { exec: make, on_fail: { retry: { max: 2 } }${at === 0 ? "" : `, depends_on: s${at - 1}`} }`;
    await bench.start(server, `steps:\n${[0, 1, 2].map(step).join("\n")}`);
    await bench.pass(1_000);
    const notices = await bench.store.listNotices({ limit: 10 });
    expect(notices).toMatchObject([{ kind: "quarantined", channel: "ops", run_id: null, state: "new" }]);
    expect(composeMessage(notices[0]!, { page: "http://server/" })).toMatchObject({
      subject: "Worker bad is in quarantine",
      text: expect.stringMatching(
        /^Worker bad is in quarantine for 10 min: jobs failed on it that others completed \(s0 in run 1, .*\)\. It gets no new attempts until then\.\n\nWhat to do:\n {2}http:\/\/server\/#\/\n {2}daruma workers /,
      ),
    });
  });
});

describe("what a workflow may try", () => {
  const sandbox = createSandbox();
  afterAll(() => sandbox.close());

  it("an expression that never ends, eats memory or reaches out delays nothing and silences nobody", {
    tags: ["N6"],
    timeout: 300_000,
  }, async () => {
    const hostile = [
      "while (true) {}",
      "'x'.repeat(1e9).repeat(1e9)",
      "process.exit(1)",
      "(() => { throw { toString() { while (true) {} } } })()",
      "notice.constructor.constructor('return process')().exit()",
      "({})",
    ];
    const rules = hostile.map((when, n) => ({ on: ["failed"] as const, to: [`c${n}`], when }));
    const pending = new Set<Promise<unknown>>();
    const town = new Town(rules, (evaluation) => {
      const result = sandbox.evaluate(evaluation);
      pending.add(result);
      void result.finally(() => pending.delete(result));
      return result;
    });
    town.serve(rules.flatMap(({ to }) => to));
    await town.run("name: evil\nsteps: { call: { type: noop } }\n", ["fail"]);
    const heard: string[] = [];
    while (heard.length < hostile.length) {
      await Promise.all(pending);
      heard.push(...(await town.tells()));
    }
    expect(heard.map((text) => text.split(":")[0]).sort()).toEqual(["c0", "c1", "c2", "c3", "c4", "c5"]);
  });

  it("a failure with very much text stays a short row and a short message", {
    tags: ["N11"],
  }, async () => {
    const town = new Town([{ on: ["failed"], to: ["ops"], when: null }]);
    town.serve();
    const facts = {
      ...{ message: "m".repeat(1_000), exitCode: 1 },
      stderrTail: `${"e".repeat(2_000)}\n`.repeat(6),
      stdoutTail: "error \u0000\u001b[31m\u202e".repeat(100_000),
    };
    await town.run("name: big\nsteps: { call: { type: noop } }\n", [{ facts }]);
    expect(await town.tells()).toHaveLength(1);
    const [notice] = town.received;
    expect(JSON.stringify(notice).length).toBeLessThan(12_000);
    const { text, subject } = composeMessage(notice!, { page: null });
    expect([text.length < 12_100, subject.length <= 151]).toEqual([true, true]);
    for (const mark of ["\0", "\u001b", "\u202e"]) expect(text).not.toContain(mark);
    expect((await town.store.readShared("episode", null, 0)).rows[0]!.data.length).toBeLessThan(20_000);
  });
});
