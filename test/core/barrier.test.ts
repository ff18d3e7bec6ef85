import { describe, expect, it } from "vitest";
import { Bench } from "./bench.js";

describe("a barrier that waits for a running attempt", () => {
  const text = `steps:
  tool: { exec: make }
  bad: { exec: make, depends_on: tool, on_fail: { goto: tool } }
  slow: { exec: make, depends_on: tool, on_fail: { retry: { max: 3 } } }
  next: { exec: make, depends_on: bad }
  list: { exec: make, forEach: true }
  work: { exec: make, depends_on: [list, tool] }`;

  function barrierOpen(): Bench {
    const bench = new Bench(text);
    bench.complete("tool");
    bench.start("bad", "slow", "list");
    bench.fail("bad");
    expect(bench.run.barriers.size).toBe(1);
    return bench;
  }

  it("holds everything in it until that attempt has ended", () => {
    const bench = barrierOpen();
    expect(bench.status("tool", "bad", "slow")).toEqual(["completed", "blocked", "running"]);
    bench.stop("slow");
    expect(bench.run.barriers.size).toBe(0);
    expect(bench.status("tool", "bad", "slow")).toEqual(["ready", "blocked", "blocked"]);
    expect(bench.job("tool").visit).toBe(2);
  });

  it.each(["succeed", "fail"] as const)(
    "takes a late result (%s) for superseded: no completion, no climb",
    (how) => {
      const bench = barrierOpen();
      bench[how]("slow");
      expect(bench.events.filter((event) => event.type === "attempt.stopped")).toMatchObject([
        { because: "superseded" },
      ]);
      expect(bench.events.filter((event) => event.type === "ladder.climbed")).toHaveLength(1);
      expect(bench.job("slow").output).toBeNull();
      expect(bench.status("tool", "slow")).toEqual(["ready", "blocked"]);
    },
  );

  it("makes items that come up meanwhile wait for the new result", () => {
    const bench = barrierOpen();
    bench.succeed("list", ["a"]);
    expect(bench.status("work[0]")).toEqual(["blocked"]);
    bench.stop("slow");
    expect(bench.status("work[0]")).toEqual(["blocked"]);
    bench.complete("tool");
    expect(bench.status("work[0]")).toEqual(["ready"]);
  });

  it("goes with the run when that is canceled", () => {
    const bench = barrierOpen();
    bench.take({ type: "run.cancel", reason: "enough", key: null });
    expect(bench.run.barriers.size).toBe(0);
    bench.stop("slow");
    bench.stop("list");
    expect(bench.run.status).toBe("canceled");
  });

  it("survives a crash: the lost attempt ends it", () => {
    const bench = barrierOpen();
    bench.take({ type: "run.resume", kept: [] });
    expect(bench.run.barriers.size).toBe(0);
    expect(bench.status("tool")).toEqual(["ready"]);
    expect(bench.events.filter((event) => event.type === "attempt.stopped")).toMatchObject([
      { because: "superseded" },
    ]);
  });
});

describe("a barrier from an item that reaches the reducer", () => {
  it("lets the reducer be decided anew when the item is given up before the goto is done", () => {
    const bench = new Bench(`routing: { max_loops: 1 }
steps:
  list: { exec: make, forEach: true }
  work: { exec: make, depends_on: list }
  check: { exec: make, depends_on: work, on_fail: { goto: work } }
  other: { exec: make, depends_on: work }
  apart: { exec: make, depends_on: list, on_fail: { retry: { max: 3 } } }
  sum: { exec: make, depends_on: work, fanout: reduce, join: any }`);
    bench.start("list");
    bench.succeed("list", ["a", "b"]);
    bench.complete("work[0]", "work[1]", "check[1]", "other[1]", "apart[1]");
    expect(bench.status("sum")).toEqual(["ready"]);
    bench.start("check[0]", "other[0]", "apart[0]");
    bench.fail("check[0]");
    expect(bench.status("sum")).toEqual(["blocked"]);
    bench.fail("apart[0]");
    expect(bench.events.filter((event) => event.type === "loop.exceeded")).toMatchObject([
      { scope: "root/list[0]" },
    ]);
    bench.stop("other[0]");
    expect(bench.events.filter((event) => event.type === "join.decided")).toMatchObject([
      { completed: 2 },
      { completed: 1, failed: 1 },
    ]);
    bench.complete("sum");
    expect(bench.run.status).toBe("completed");
  });

  it("goes on when an attempt that it waits for is given up with its scope and then fails late", () => {
    const bench = new Bench(`routing: { max_loops: 0 }
steps:
  setup: { exec: make }
  list: { exec: make, forEach: true, depends_on: setup }
  slow: { exec: make, depends_on: list }
  flaky: { exec: make, depends_on: list, on_fail: { retry: { max: 1 } } }
  sum: { exec: make, depends_on: slow, fanout: reduce, join: any }`);
    bench.complete("setup");
    bench.start("list");
    bench.succeed("list", ["a"]);
    bench.start("slow[0]", "flaky[0]");
    bench.fail("flaky[0]");
    expect(bench.job("slow[0]").stopping).toBe("loop_budget");
    bench.fail("slow[0]");
    expect(bench.status("slow[0]", "sum")).toEqual(["canceled", "canceled"]);
    expect(bench.job("slow[0]").failure?.code).toBe("LOOP_BUDGET_EXCEEDED");
    expect(bench.run.status).toBe("failed");
  });
});

describe("a goto that sweeps up a job in the middle of its repair", () => {
  it("ends what the repair step itself had set going", () => {
    const bench = new Bench(`steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { run: [fix] } }
  bad: { exec: make, depends_on: setup, on_fail: { goto: setup } }
  fix: { exec: make, on_success: { run: [note] } }
  note: { exec: make }`);
    bench.complete("setup");
    bench.start("build", "bad");
    bench.fail("build");
    bench.complete("fix");
    bench.start("note");
    bench.fail("bad");
    expect(bench.job("note").stopping).toBe("superseded");
    bench.stop("note");
    expect(bench.status("setup", "build", "fix", "note")).toEqual(["ready", "blocked", "blocked", "blocked"]);
    bench.complete("setup", "build", "bad");
    expect(bench.status("fix", "note")).toEqual(["skipped", "skipped"]);
    expect(bench.run.status).toBe("completed");
  });
});

describe("a goto that closes the items of a fan-out", () => {
  it("settles the routed steps that were brought into them", () => {
    const bench = new Bench(`steps:
  setup: { exec: make }
  list: { exec: make, forEach: true, depends_on: setup }
  work: { exec: make, depends_on: list, on_fail: { run: [fix, more] } }
  bad: { exec: make, depends_on: setup, on_fail: { goto: setup } }
  fix: { exec: make }
  more: { exec: make }`);
    bench.complete("setup");
    bench.start("list", "bad");
    bench.succeed("list", ["a"]);
    bench.start("work[0]");
    bench.fail("work[0]");
    bench.start("fix[0]");
    bench.fail("bad");
    bench.stop("fix[0]");
    expect(bench.status("work[0]", "fix[0]", "more[0]")).toEqual(["skipped", "skipped", "skipped"]);
    expect(bench.run.scopes.get("root/list[0]")!.open).toBe(false);
  });
});

describe("an item that is given up", () => {
  it("takes the visits that were asked for in it along", () => {
    const bench = new Bench(`routing: { max_loops: 1 }
steps:
  list: { exec: make, forEach: true }
  a: { exec: make, depends_on: list, on_fail: { run: [fix] } }
  b: { exec: make, depends_on: list, on_fail: { run: [fix] } }
  c: { exec: make, depends_on: list, on_fail: { retry: { max: 5 } } }
  fix: { exec: make }`);
    bench.start("list");
    bench.succeed("list", ["x"]);
    bench.start("a[0]", "b[0]", "c[0]");
    bench.fail("a[0]");
    bench.fail("b[0]");
    bench.start("fix[0]");
    bench.fail("c[0]");
    bench.start("c[0]");
    bench.fail("c[0]");
    expect(bench.status("a[0]", "b[0]", "c[0]", "fix[0]")).toEqual([
      "canceled",
      "canceled",
      "failed",
      "running",
    ]);
    bench.stop("fix[0]");
    expect(bench.status("fix[0]")).toEqual(["canceled"]);
    expect(bench.run).toMatchObject({ status: "failed", error: { code: "LOOP_BUDGET_EXCEEDED" } });
  });
});

describe("steps that wait for each other", () => {
  it("a repair that waits for a fan-out is not asked of the fan-out's own repair", () => {
    const bench = new Bench(`steps:
  tool: { exec: make, start: auto, on_fail: { run: [sum] } }
  list: { exec: make, forEach: true, on_fail: { run: [tool] } }
  work: { exec: make, depends_on: list }
  sum: { exec: make, depends_on: work, fanout: reduce, on_fail: { goto: list } }`);
    bench.start("list", "tool");
    bench.succeed("list", []);
    bench.start("sum");
    bench.fail("tool");
    bench.fail("sum");
    bench.start("list");
    bench.fail("list");
    // tool waits for sum, which waits for list: list cannot be repaired by tool.
    const climb = bench.events.findLast((event) => event.type === "ladder.climbed");
    expect(climb?.considered).toContainEqual({
      rung: "remediate",
      applied: false,
      kind: "no_target",
      reason: "tool refused: tool itself waits for list",
    });
    expect(bench.run.status).toBe("failed");
  });

  it("a visit that a goto has made circular is refused, and the run goes on", () => {
    const bench = new Bench(`steps:
  a: { exec: make }
  b: { exec: make, on_fail: { run_js: "[]" } }
  asking: { exec: make, on_fail: { run: [c] } }
  c: { exec: make, depends_on: ["b|a"], on_success: { goto_js: "null" } }`);
    bench.start("a", "b", "asking");
    bench.succeed("a");
    bench.fail("asking");
    bench.fail("b");
    bench.answer("b", { ok: true, value: ["asking"], duration_ms: 0 });
    expect(bench.status("b", "asking", "c")).toEqual(["recovering", "recovering", "ready"]);
    bench.start("c");
    bench.succeed("c");
    bench.answer("c", { ok: true, value: "a", duration_ms: 0 });
    // c must run again before it repairs asking, and may need b, which waits for asking.
    expect(bench.events.filter((event) => event.type === "job.failed")).toMatchObject([
      { job: bench.job("asking").id, code: "REMEDIATION_FAILED" },
    ]);
    bench.complete("asking", "b", "a", "c");
    bench.answer("c", { ok: true, value: null, duration_ms: 0 });
    expect(bench.run.status).toBe("completed");
  });
});

describe("a recovery script behind a barrier", () => {
  const text = `routing: { max_loops: 1 }
failure_handlers: [{ name: h, rules: [{ match_all_exit_codes: true, recovery_script: ./fix.sh, max_retries: 2 }] }]
steps:
  tool: { exec: make }
  bad: { exec: make, depends_on: tool, on_fail: { goto: tool } }
  slow: { exec: make, depends_on: tool, failure_handler: h }
  other: { exec: make, on_fail: { run: [fix] } }
  fix: { exec: make }`;

  function scriptEnding(): Bench {
    const bench = new Bench(text);
    bench.complete("tool");
    bench.start("bad", "slow", "other");
    bench.fail("slow");
    bench.fail("bad");
    expect(bench.run.barriers.size).toBe(1);
    return bench;
  }

  const finish = (bench: Bench) =>
    bench.take({
      type: "recovery.finish",
      job: bench.job("slow").id,
      attempt: 1,
      outcome: { kind: "stopped" },
    });

  it("is waited for before anything in it begins anew", () => {
    const bench = scriptEnding();
    expect(bench.status("tool", "slow")).toEqual(["completed", "blocked"]);
    finish(bench);
    expect(bench.run.barriers.size).toBe(0);
    expect(bench.status("tool", "slow")).toEqual(["ready", "blocked"]);
  });

  it("keeps a run that is given up from ending before it has gone", () => {
    const bench = scriptEnding();
    bench.fail("other");
    expect(bench.run.status).toBe("running");
    finish(bench);
    expect(bench.run.status).toBe("failed");
    expect(bench.run.error?.code).toBe("LOOP_BUDGET_EXCEEDED");
    expect(bench.status("slow")).toEqual(["canceled"]);
  });
});

describe("a recovery script whose worker is gone", () => {
  const text = `
max_recoveries: 2
failure_handlers: [{ name: h, rules: [{ match_all_exit_codes: true, max_retries: 2, recovery_script: ./fix.sh }] }]
steps: { a: { exec: make, failure_handler: h } }`;

  it("runs again, as often as the run may recover, and then the retry comes without it", () => {
    const bench = new Bench(text);
    bench.start("a");
    bench.fail("a");
    const lose = () =>
      bench.take({
        ...{ type: "recovery.finish", job: bench.job("a").id, attempt: 1 },
        outcome: { kind: "failed", facts: { lost: true, message: "the worker is gone" } },
      });
    const tries: number[] = [];
    for (let loss = 0; loss < 3; loss += 1) {
      expect(bench.status("a")).toEqual(["recovering"]);
      tries.push(bench.job("a").recovery!.tries);
      lose();
    }
    expect(tries).toEqual([1, 2, 3]);
    expect(bench.status("a")).toEqual(["ready"]);
  });
});
