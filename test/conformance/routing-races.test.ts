import { describe, expect, it } from "vitest";
import { Engine } from "../../src/run/engine/engine.js";
import type { Assignment, Ended, Seat } from "../../src/run/worker.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import { enginePorts, flush, trial, workflow } from "../support/harness.js";
import { ManualClock } from "../support/manual-clock.js";
import { plainSandbox } from "../support/plain-sandbox.js";
import { freePlaces, ScriptedWorker } from "../support/scripted-worker.js";
import { trace } from "../support/trace.js";

describe("run lists that want the same step", () => {
  it("queue: two jobs that fail at once with the same repair get a visit each, one after the other", async () => {
    const run = await trial(
      `steps:
  a: { exec: make, on_fail: { run: [fix] } }
  b: { exec: make, on_fail: { run: [fix] } }
  fix: { exec: make }`,
      { a: ["fail", "ok"], b: ["fail", "ok"], fix: [{ output: null, takesMs: 10 }] },
    );
    expect(run.order).toEqual(["a", "b", "fix", "a", "fix", "b"]);
    expect(run.times).toEqual([0, 0, 0, 10, 10, 20]);
    expect(run.events("visit.entered").map(({ by, visit }) => [by, visit])).toEqual([
      [run.job("a").id, 1],
      [run.job("b").id, 2],
    ]);
    expect(run.run.status).toBe("completed");
  });

  it("each visit is its own: one repair fails, the next one completes", async () => {
    const run = await trial(
      `steps:
  a: { exec: make, on_fail: { run: [fix] } }
  b: { exec: make, on_fail: { run: [fix] } }
  fix: { exec: make }`,
      { a: ["fail"], b: ["fail", "ok"], fix: ["fail", "ok"] },
    );
    expect(run.job("a")).toMatchObject({ status: "failed", error: { code: "REMEDIATION_FAILED" } });
    expect(run.job("b").status).toBe("completed");
    expect(run.job("fix")).toMatchObject({ status: "completed", visit: 2 });
  });

  it("a repair that is an ordinary step under way waits for its own end first", async () => {
    const run = await trial(
      `steps:
  a: { exec: make, on_fail: { run: [tool] } }
  tool: { exec: make, start: auto }
  user: { exec: make, depends_on: tool }`,
      {
        a: [{ exit: 1, takesMs: 5 }, "ok"],
        tool: [
          { output: 1, takesMs: 20 },
          { output: 2, takesMs: 20 },
        ],
      },
    );
    expect(run.order).toEqual(["a", "tool", "user", "tool", "a"]);
    expect(run.times).toEqual([0, 0, 20, 20, 40]);
  });

  it("two steps that would repair each other do not wait for ever: the second is refused", async () => {
    const run = await trial(
      `steps:
  root: { exec: make }
  a: { exec: make, depends_on: root, on_fail: { run: [b] } }
  b: { exec: make, depends_on: root, on_fail: { run: [a] } }`,
      { a: [{ exit: 1, takesMs: 10 }, "ok"], b: [{ exit: 1, takesMs: 20 }, "ok"] },
    );
    expect(run.order).toEqual(["root", "a", "b", "b", "a"]);
    const climbs = run.events("ladder.climbed").flatMap(({ considered }) => considered);
    expect(climbs).toContainEqual({
      rung: "remediate",
      applied: false,
      kind: "no_target",
      reason: "a refused: a itself waits for b",
    });
    expect(run.run.status).toBe("completed");
  });
});

describe("goto while others run", () => {
  it("a barrier: members that run are ended as superseded, nothing in it starts meanwhile, late results climb no ladder", async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  bad: { exec: make, depends_on: setup, on_fail: { goto: setup } }
  slow: { exec: make, depends_on: setup, on_fail: { retry: { max: 5 } } }
  next: { exec: make, depends_on: bad }`,
      { bad: [{ exit: 1, takesMs: 10 }, "ok"], slow: [{ exit: 1, takesMs: 1000 }, "ok"] },
    );
    expect(trace(run)).toEqual([
      "start setup",
      "ok setup",
      "start bad",
      "start slow",
      "fail bad EXIT_1",
      "climb bad goto",
      "goto bad -> setup after failure, loop 1",
      "stopped slow superseded",
      "again setup bad slow next",
      "start setup",
      "ok setup",
      "start bad",
      "start slow",
      "ok bad",
      "ok slow",
      "start next",
      "ok next",
      "run completed",
    ]);
    expect(run.worker.stopped).toEqual(["slow"]);
    expect(run.job("slow")).toMatchObject({ visit: 2, attempt_id: 2 });
  });

  it("a member that is waiting for its backoff lets go of it", async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  bad: { exec: make, depends_on: setup, on_fail: { goto: setup } }
  flaky: { exec: make, depends_on: setup, on_fail: { retry: { max: 1, backoff: { delay_ms: 500 } } } }`,
      { bad: [{ exit: 1, takesMs: 100 }, "ok"], flaky: ["fail", "ok"] },
    );
    expect(run.order).toEqual(["setup", "bad", "flaky", "setup", "bad", "flaky"]);
    expect(run.times).toEqual([0, 0, 0, 100, 100, 100]);
    expect(run.job("flaky").attempt_id).toBe(2);
  });

  it("a second goto meanwhile widens the barrier", async () => {
    const store = createMemoryStore();
    const clock = new ManualClock();
    const worker = new ScriptedWorker(clock, {
      mid: ["ok"],
      bad1: [{ exit: 1, takesMs: 10 }, "ok"],
      bad2: [{ exit: 1, takesMs: 20 }, "ok"],
      slow: [{ output: null, takesMs: 1000 }, "ok"],
    });
    // Ending the slow attempt takes its time: the engine hears of it only when the test says so.
    let endSlow = (): void => {};
    const stubborn = {
      ...freePlaces("stubborn"),
      endLeftovers: () => Promise.resolve(),
      close: () => Promise.resolve(),
      execute: (assignment: Assignment, place: Seat | null, signal: AbortSignal, ended: Ended) => {
        const isLate = assignment.stepId === "slow" && assignment.attempt === 1;
        const late: Ended = (outcome) => (endSlow = () => ended(outcome));
        worker.execute(assignment, place, signal, isLate ? late : ended);
      },
    };
    const engine = new Engine({ ...enginePorts(store, clock), worker: stubborn, sandbox: plainSandbox });
    const { runId, ended: over } = await engine.start(
      workflow(`steps:
  setup: { exec: make }
  mid: { exec: make, depends_on: setup }
  bad1: { exec: make, depends_on: mid, on_fail: { goto: mid } }
  slow: { exec: make, depends_on: mid }
  bad2: { exec: make, depends_on: setup, on_fail: { goto: setup } }`),
    );
    for (let turn = 0; turn < 6; turn += 1) {
      await flush();
      if (clock.now() >= 1_700_000_000_020) break;
      clock.fireNext();
    }
    await flush();
    endSlow();
    const run = await over;
    const log = (await store.readEvents(runId)).map(({ event }) => event);
    const opened = log.filter((event) => event.type === "barrier.opened");
    expect(opened.map(({ barrier }) => barrier)).toEqual([1, 1]);
    expect(log.filter((event) => event.type === "barrier.closed")).toHaveLength(1);
    expect(worker.order).toEqual([
      "setup",
      "mid",
      "bad2",
      "bad1",
      "slow",
      "setup",
      "mid",
      "bad2",
      "bad1",
      "slow",
    ]);
    expect(run.status).toBe("completed");
    expect(run.root.loops).toBe(2);
  });

  it("ends a remediation whose source is swept up by a goto from elsewhere", async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { run: [fix, more] } }
  bad: { exec: make, depends_on: setup, on_fail: { goto: setup } }
  fix: { exec: make }
  more: { exec: make }`,
      {
        build: ["fail", "ok"],
        bad: [{ exit: 1, takesMs: 10 }, "ok"],
        fix: [{ output: null, takesMs: 1000 }],
      },
    );
    expect(trace(run)).toEqual([
      "start setup",
      "ok setup",
      "start build",
      "start bad",
      "fail build EXIT_1",
      "climb build remediate",
      "remediate build by fix more",
      "start fix",
      "fail bad EXIT_1",
      "climb bad goto",
      "goto bad -> setup after failure, loop 1",
      "stopped fix superseded",
      "again setup build bad",
      "start setup",
      "ok setup",
      "start build",
      "start bad",
      "ok build",
      "ok bad",
      "skipped fix more",
      "run completed",
    ]);
    expect(run.worker.stopped).toEqual(["fix"]);
  });

  it("a repair step keeps an earlier failure of its own when its visit is swept away", async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  tool: { exec: make, start: auto }
  build: { exec: make, depends_on: setup, on_fail: { run: [tool] } }
  bad: { exec: make, depends_on: setup, on_fail: { goto: setup } }`,
      {
        tool: [{ exit: 9 }, { output: null, takesMs: 1000 }],
        build: [{ exit: 1, takesMs: 5 }, "ok"],
        bad: [{ exit: 1, takesMs: 10 }, "ok"],
      },
    );
    expect(run.worker.stopped).toEqual(["tool"]);
    expect(run.job("tool")).toMatchObject({ status: "failed", error: { code: "EXIT_9" } });
    expect(run.run).toMatchObject({ status: "failed", error: { code: "EXIT_9" } });
  });

  it("a failure that led to a visit which a goto gives up is not handled by the visit before it", async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  tell: { exec: make, start: auto }
  build: { exec: make, depends_on: setup, on_fail: { run: [tell] } }
  lost: { exec: make }
  bad: { exec: make, depends_on: setup, on_fail: { goto: setup } }
transitions: [{ from: lost, to: tell, on: failure }]`,
      {
        tell: ["ok", { output: null, takesMs: 1000 }],
        build: [{ exit: 1, takesMs: 5 }, "ok"],
        lost: [{ exit: 7, takesMs: 10 }],
        bad: [{ exit: 1, takesMs: 15 }, "ok"],
      },
    );
    expect(trace(run)).toEqual([
      "start setup",
      "start tell",
      "start lost",
      "ok setup",
      "ok tell",
      "start build",
      "start bad",
      "fail build EXIT_1",
      "climb build remediate",
      "remediate build by tell",
      "start tell",
      "fail lost EXIT_7",
      "climb lost edge",
      "failed lost EXIT_7",
      "edge 1 lost -> tell on failure, already scheduled",
      "fail bad EXIT_1",
      "climb bad goto",
      "goto bad -> setup after failure, loop 1",
      "stopped tell superseded",
      "again setup build bad",
      "start setup",
      "ok setup",
      "start build",
      "start bad",
      "ok build",
      "ok bad",
      "settled handled [] unhandled [lost]",
      "run failed EXIT_7",
    ]);
    expect(run.job("tell").status).toBe("completed");
    expect(run.job("lost")).toMatchObject({ status: "failed", handled: false });
    expect(run.run).toMatchObject({ status: "failed", error: { code: "EXIT_7" } });
  });

  it("such a failure is not handled by a later visit either, while one that led there is", async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  tell: { exec: make, start: auto }
  build: { exec: make, depends_on: setup, on_fail: { run: [tell] } }
  lost: { exec: make }
  later: { exec: make }
  bad: { exec: make, depends_on: setup, on_fail: { goto: setup } }
transitions: [{ from: lost, to: tell, on: failure }, { from: later, to: tell, on: failure }]`,
      {
        tell: ["ok", { output: null, takesMs: 1000 }, "ok"],
        build: [{ exit: 1, takesMs: 5 }, "ok"],
        lost: [{ exit: 7, takesMs: 10 }],
        later: [{ exit: 8, takesMs: 20 }],
        bad: [{ exit: 1, takesMs: 15 }, "ok"],
      },
    );
    expect(run.events("edge.taken").map(({ status }) => status)).toEqual(["already_scheduled", "selected"]);
    expect(run.job("tell")).toMatchObject({ status: "completed", visit: 3 });
    expect(run.job("later")).toMatchObject({ status: "failed", handled: true });
    expect(run.job("lost")).toMatchObject({ status: "failed", handled: false });
    expect(run.run).toMatchObject({ status: "failed", error: { code: "EXIT_7" } });
  });

  it("an edge starts a step whose only visit so far was given up", async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  tell: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { run: [tell] } }
  later: { exec: make }
  bad: { exec: make, depends_on: setup, on_fail: { goto: setup } }
transitions: [{ from: later, to: tell, on: failure }]`,
      {
        tell: [{ output: null, takesMs: 1000 }, "ok"],
        build: [{ exit: 1, takesMs: 5 }, "ok"],
        later: [{ exit: 8, takesMs: 20 }],
        bad: [{ exit: 1, takesMs: 15 }, "ok"],
      },
    );
    expect(run.order).toEqual(["setup", "later", "build", "bad", "tell", "setup", "build", "bad", "tell"]);
    expect(run.events("edge.taken").map(({ status }) => status)).toEqual(["selected"]);
    expect(run.job("tell")).toMatchObject({ status: "completed", visit: 2 });
    expect(run.job("later")).toMatchObject({ status: "failed", handled: true });
    expect(run.run.status).toBe("completed");
  });

  it("hands a repair step that was let go of to the next that has asked for it", async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { run: [fix] } }
  other: { exec: make, on_fail: { run: [fix] } }
  bad: { exec: make, depends_on: setup, on_fail: { goto: setup } }
  fix: { exec: make, on_fail: { retry: { max: 2, backoff: { delay_ms: 1000 } } } }`,
      {
        build: ["fail", "ok"],
        other: [{ exit: 1, takesMs: 5 }, "ok"],
        bad: [{ exit: 1, takesMs: 10 }, "ok"],
        fix: ["fail", "ok"],
      },
    );
    // fix waits for its backoff in a visit for build; the goto at 10 ms frees it for other.
    expect(run.events("visit.entered").map(({ by }) => by)).toEqual([
      run.job("build").id,
      run.job("other").id,
    ]);
    expect(run.times.at(-1)).toBe(10);
    expect(run.run.status).toBe("completed");
  });

  it("puts off a repair whose own dependencies run again, and does it then", async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  tool: { exec: make, depends_on: setup, start: routed }
  build: { exec: make, on_fail: { run: [tool] } }
  bad: { exec: make, depends_on: setup, on_fail: { goto: setup } }`,
      {
        setup: ["ok", { output: null, takesMs: 50 }],
        tool: [{ output: null, takesMs: 1000 }, "ok"],
        build: [{ exit: 1, takesMs: 5 }, "ok"],
        bad: [{ exit: 1, takesMs: 10 }, "ok"],
      },
    );
    expect(run.order).toEqual(["setup", "build", "bad", "tool", "setup", "bad", "tool", "build"]);
    expect(run.times).toEqual([0, 0, 0, 5, 10, 60, 60, 60]);
    expect(run.run.status).toBe("completed");
  });
});
