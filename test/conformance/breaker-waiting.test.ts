import { describe, expect, test } from "vitest";
import { readyDemands } from "../../src/fleet/allocations/scale/demand.js";
import { checkpointed, type Outcome } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";
import { settingsOf } from "../support/supervisor-bench.js";

const DOWN: Outcome = { facts: { httpStatus: 503, message: "HTTP status 503" } };
const SLOW: Outcome = { facts: { timeout: "wall", message: "too slow" } };
const MINUTE = 60_000;
const API = "api: { failures: 1, probe_every: 2m, max_open: 1h, release: 10/s }";

function file(steps: string, { breakers = API, top = "" } = {}): string {
  return `breakers: { ${breakers} }\n${top}\nsteps:\n${steps}`;
}

describe("jobs that use an open breaker", () => {
  test("stay ready without an event, and go on at the rate of release once a probe has closed it", {
    tags: ["B11"],
  }, async () => {
    const steps = `  a: { exec: x, uses: [api], on_fail: { retry: { max: 1 } } }
  b: { exec: x, uses: [api] }
  c: { exec: x, uses: [api] }
  free: { exec: x }
  d: { exec: x, uses: [api] }`;
    const stage = await Stage.begin(file(steps), { a: [DOWN, "ok"] }, { capacity: 1 });
    const before = await stage.view();
    expect(before.order).toEqual(["a", "free"]);
    expect(["a", "b", "c", "d"].map((step) => before.job(step).status)).toEqual(Array(4).fill("ready"));
    const { order, times, run } = await stage.rest();
    expect(run.status).toBe("completed");
    // The oldest that is ready finds out; the others follow every 100 ms.
    expect(order.slice(2)).toEqual(["b", "c", "d", "a"]);
    expect(times.slice(2)).toEqual([0, 0, 100, 200].map((ms) => 2 * MINUTE + ms));
  });

  test("are tried only when the probes of all that they use are due, and take both leases or none", {
    tags: ["B10"],
  }, async () => {
    const steps = `  one: { exec: x, uses: [api], continue_on_failure: true }
  two: { exec: x, uses: [db], continue_on_failure: true }
  both: { exec: x, uses: [api, db] }`;
    const breakers = `${API}, db: { failures: 1, probe_every: 2m, max_open: 1h }`;
    const script = {
      one: [DOWN],
      two: [{ ...(DOWN as object), takesMs: MINUTE } as Outcome],
      both: ["ok" as const],
    };
    const stage = await Stage.begin(file(steps, { breakers }), script, { capacity: 2 });
    const { order, times, run } = await stage.rest();
    expect(run.status).toBe("completed");
    expect(order).toEqual(["one", "two", "both"]);
    expect(times).toEqual([0, 0, 3 * MINUTE]);
    const { rows } = await stage.store.readShared("breaker", null, 0);
    expect(rows.map(({ name, data }) => [name, JSON.parse(data).opened, JSON.parse(data).probe])).toEqual([
      ["test/api", null, null],
      ["test/db", null, null],
    ]);
  });

  test("are not held back in a run with --only or --no-failure-routing", { tags: ["B12"] }, async () => {
    const text = file("  pay: { exec: x, uses: [api], on_fail: { retry: { max: 3 } } }");
    for (const options of [{ only: "pay" }, { failure_routing: false }]) {
      const stage = await Stage.begin(text, { pay: [DOWN] }, { options });
      const { order, run, log } = await stage.rest();
      expect([order, run.status]).toEqual([["pay"], "failed"]);
      expect(log.some(({ event }) => event.type === "job.parked")).toBe(false);
      expect((await stage.store.readShared("breaker", null, 0)).rows).toEqual([]);
    }
  });
});

describe("a parked job", () => {
  const PAY = file("  pay: { exec: x, uses: [api], on_fail: { retry: { max: 1 } } }");
  const parked = async (script: readonly Outcome[], text = PAY): Promise<Stage> => {
    const stage = await Stage.begin(text, { pay: script });
    for (let turn = 0; (await stage.view()).events("job.parked").length === 0; turn += 1) {
      if (turn > 200) throw new Error("it is never parked");
      await stage.turn();
    }
    return stage;
  };

  test("is charged to no rule", { tags: ["B9"] }, async () => {
    const top = "failure_handlers: [{ name: h, rules: [{ match_all_exit_codes: true, max_retries: 3 }] }]";
    const text = file("  pay: { exec: x, uses: [api], failure_handler: h }", { top });
    const stage = await Stage.begin(text, { pay: [DOWN, DOWN, DOWN, DOWN, { exit: 1 }, { exit: 1 }] });
    const trial = await stage.rest();
    // Attempts 2, 3 and 4 are probes that park; 1, 5 and 6 are the three that the rule allows.
    expect(trial.events("job.parked").map(({ attempt }) => attempt)).toEqual([2, 3, 4]);
    expect(trial.events("rule.reserved").map(({ attempt }) => attempt)).toEqual([1, 5]);
    expect([trial.run.status, trial.order.length]).toEqual(["failed", 6]);
  });

  test("is no sign of missing progress", { tags: ["B9"] }, async () => {
    const top = "self_heal: { step_max_attempts: 9, step_no_progress_limit: 2 }";
    const text = file("  pay: { type: agent, exec: x, prompt: y, uses: [api] }", { top });
    const trial = await (await Stage.begin(text, { pay: [SLOW, SLOW, SLOW, SLOW, "ok"] })).rest();
    expect(trial.run.status).toBe("completed");
    expect(
      trial.events("attempt.failed").map(({ error, no_progress: noProgress }) => [error.class, noProgress]),
    ).toEqual(Array(4).fill(["transient_runtime", null]));
  });

  test("is dropped by a cancel", { tags: ["B9"] }, async () => {
    const stage = await parked([DOWN]);
    expect(await stage.operate({ type: "run.cancel" })).toBeNull();
    const { run, job } = await stage.view();
    expect([run.status, job("pay").status]).toEqual(["canceled", "canceled"]);
  });

  test("is kept by a pause, and goes on where its run is resumed", { tags: ["B9"] }, async () => {
    const stage = await parked([DOWN, DOWN, "ok"]);
    expect(await stage.operate({ type: "run.pause", takeover: false })).toBeNull();
    expect((await stage.rest()).job("pay").status).toBe("waiting");
    const { run, order } = await (await stage.resume()).rest();
    expect([run.status, order.length]).toEqual(["completed", 3]);
  });

  test("is let through by an operator's retry at once, without a new visit, and closes the breaker by its success", {
    tags: ["B12"],
  }, async () => {
    const stage = await parked([DOWN, DOWN, "ok"]);
    const before = (await stage.view()).times.length;
    const job = await stage.id("pay");
    expect(await stage.operate({ type: "step.retry", job })).toBeNull();
    const trial = await stage.rest();
    expect(trial.times.slice(before)).toEqual([2 * MINUTE]);
    expect(trial.job("pay")).toMatchObject({ status: "completed", visit: 1, attempt_id: 3 });
    expect(trial.events("job.let_through")).toMatchObject([{ job, reason: "because" }]);
    expect(JSON.parse((await stage.store.readShared("breaker", null, 0)).rows[0]!.data).opened).toBeNull();
  });

  test("is begun anew by a goto, and then waits like any other", { tags: ["B9"] }, async () => {
    const steps = `  base: { exec: x }
  pay: { exec: x, uses: [api], depends_on: [base], on_fail: { retry: { max: 1 } } }
  late: { exec: x, depends_on: [base], on_fail: { goto: base } }`;
    const late: Outcome = { exit: 1, takesMs: 3 * MINUTE };
    const stage = await Stage.begin(file(steps), { pay: [DOWN, DOWN, "ok"], late: [late, "ok"] });
    const trial = await stage.rest();
    expect(trial.run.status).toBe("completed");
    expect(trial.order).toEqual(["base", "pay", "late", "pay", "base", "late", "pay"]);
    expect(trial.times.at(-1)).toBe(4 * MINUTE);
    expect(trial.job("pay").visit).toBe(2);
  });

  test("may be a repair", { tags: ["B9"] }, async () => {
    const steps = `  build: { exec: x, on_fail: { run: [fix] } }
  fix: { exec: x, uses: [api], on_fail: { retry: { max: 1 } } }`;
    const trial = await (
      await Stage.begin(file(steps), { build: ["fail", "ok"], fix: [DOWN, DOWN, "ok"] })
    ).rest();
    expect(trial.run.status).toBe("completed");
    expect(trial.order).toEqual(["build", "fix", "fix", "fix", "build"]);
    expect(trial.times).toEqual([0, 0, 2 * MINUTE, 4 * MINUTE, 4 * MINUTE]);
  });

  test("outlives its engine, whose probe is nobody's afterwards", { tags: ["B10"] }, async () => {
    const stage = await Stage.begin(PAY, {
      pay: [DOWN, { ...(DOWN as object), takesMs: MINUTE } as Outcome, "ok"],
    });
    while ((await stage.view()).order.length < 2) await stage.turn();
    stage.kill();
    await stage.resume();
    const trial = await stage.rest();
    expect(trial.run.status).toBe("completed");
    // The lost probe was restarted, and waited for its turn like all others.
    expect(trial.times).toEqual([0, 2 * MINUTE, 4 * MINUTE]);
    expect(trial.events("restart.granted")).toHaveLength(1);
  });
});

describe("in a workspace", () => {
  const TREE = { top: "workspace: { repo: . }" };

  test("a parked job lets go of the tree", async () => {
    const steps = `  pay: { exec: x, uses: [api], on_fail: { retry: { max: 1 } } }
  other: { exec: x, depends_on: [slow] }
  slow: { exec: x, workspace: false }`;
    const slow: Outcome = { output: null, takesMs: 3 * MINUTE };
    const stage = await Stage.begin(file(steps, TREE), {
      pay: [DOWN, DOWN, checkpointed("pay")],
      slow: [slow],
      other: [checkpointed("other")],
    });
    const trial = await stage.rest();
    expect(trial.run.status).toBe("completed");
    expect(trial.order).toEqual(["pay", "slow", "pay", "other", "pay"]);
  });

  test("so does one that is kept back, and the other's start says so", async () => {
    const steps = `  pay: { exec: x, uses: [api], on_fail: { retry: { max: 1 } } }
  other: { exec: x }`;
    const stage = await Stage.begin(file(steps, TREE), {
      pay: [DOWN, checkpointed("pay")],
      other: [checkpointed("other")],
    });
    const trial = await stage.rest();
    expect(trial.run.status).toBe("completed");
    expect(trial.order).toEqual(["pay", "other", "pay"]);
    const pay = trial.job("pay").id;
    expect(trial.events("attempt.started").map(({ kept_back: keptBack }) => keptBack)).toEqual([
      undefined,
      pay,
      undefined,
    ]);
    expect(trial.events("set_aside.started")).toMatchObject([{ job: pay, kept_back: pay }]);
  });

  test("so does one without the workspace that an edge has led a failure to", async () => {
    const steps = `  opens: { exec: x, uses: [api], workspace: false, continue_on_failure: true }
  edit: { exec: x, on_fail: { edge: { to: mend } } }
  mend: { exec: x, uses: [api], workspace: false }
  other: { exec: x }`;
    const stage = await Stage.begin(file(steps, TREE), {
      opens: [DOWN],
      edit: [{ exit: 1, takesMs: 1_000 }],
      other: [checkpointed("other")],
    });
    const trial = await stage.rest();
    expect(trial.run.status).toBe("completed");
    expect(trial.order).toEqual(["opens", "edit", "other", "mend"]);
    const { id } = trial.job("mend");
    expect(trial.events("set_aside.started")).toMatchObject([{ for: trial.job("other").id, kept_back: id }]);
  });
});

test("a cluster is asked for no pilots for jobs that a breaker keeps back, but for the one that is due to find out", {
  tags: ["B13"],
}, async () => {
  const steps = `  a: { exec: x, uses: [api], continue_on_failure: true }
  long: { exec: x }
  b: { exec: x, uses: [api], runs_on: [hpc] }
  c: { exec: x, uses: [api], runs_on: [hpc] }
  free: { exec: x, runs_on: [hpc] }`;
  const script = { a: [DOWN], long: [{ exit: 0, takesMs: 60 * MINUTE }] };
  const stage = await Stage.begin(file(steps), script, { capacity: 1 });
  const { breakers, live } = stage;
  const run = live!;
  const demanded = (): string[] => {
    const keepsBack = (of: typeof run, job: (typeof run.jobs)[number]) =>
      breakers.keepsBack({ run: of }, job);
    const demands = readyDemands([run], [settingsOf()], { keepsBack, probes: breakers.probesInNeed() });
    return [...demands.values()]
      .flat()
      .map(({ jobId }) => run.jobs.find(({ id }) => id === jobId)!.step.definition.id);
  };
  expect(
    ["b", "c", "free"].map((step) => run.jobs.find((job) => job.step.definition.id === step)!.status),
  ).toEqual(Array(3).fill("ready"));
  expect(demanded()).toEqual(["free"]);
  const due = stage.clock.now() + 2 * MINUTE;
  while (stage.clock.now() < due) await stage.turn();
  expect(demanded()).toEqual(["b", "free"]);
});
