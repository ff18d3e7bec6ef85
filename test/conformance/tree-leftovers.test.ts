import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import { checkpointed as ok, type Script } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const file = (steps: string, ...keys: string[]): string =>
  `name: tree\n${keys.some((key) => key.startsWith("workspace")) ? "" : "workspace: { repo: . }"}\n${keys.join("\n")}\nsteps:\n${steps}\n`;
const TWO = "  agent: { exec: edit }\n  other: { exec: edit }";
const RETRY = "retry: { max: 2, backoff: { mode: fixed, delay_ms: 300 } }";
const no = { exit: 1, stderr: "no" };
const gone = { facts: { lost: true, message: "the worker is gone" } };
const traceOf = async (stage: Stage): Promise<string[]> => trace(await stage.rest());

describe("a lost or interrupted attempt", () => {
  it("keeps the tree, and starts again from the last checkpoint", async () => {
    const run = await trial(file(TWO), { agent: [gone, ok("agent")], other: [ok("other")] });
    expect(trace(run)).toEqual([
      ...["start agent", "fail agent WORKER_LOST", "climb agent restart", "restart agent 1/5"],
      ...["set aside agent 1 for agent", "aside agent 1 ok", "start agent", "ok agent"],
      ...["start other", "ok other", "run completed"],
    ]);
  });

  it("goes on in what it left where the file says so", async () => {
    const keep = "workspace: { repo: ., on_lost: keep }";
    const run = await trial(file(TWO, keep), { agent: [gone, ok("agent")], other: [ok("other")] });
    expect(trace(run)).toEqual([
      ...["start agent", "fail agent WORKER_LOST", "climb agent restart", "restart agent 1/5", "start agent"],
      ...["ok agent", "start other", "ok other", "run completed"],
    ]);
  });

  it("that died with its engine is set aside by the next one", async () => {
    const stage = await Stage.begin(file(TWO), { agent: [ok("agent", { takesMs: 100 })] });
    stage.kill();
    await stage.resume();
    expect((await traceOf(stage)).slice(0, 6)).toEqual([
      ...["start agent", "fail agent WORKER_LOST", "climb agent restart", "restart agent 1/5"],
      ...["set aside agent 1 for agent", "aside agent 1 ok"],
    ]);
    expect(stage.workspaces.setAsides).toEqual(["/workspace"]);
  });

  it("of a retry takes along what the attempt before it left", async () => {
    const run = await trial(file(`  agent: { exec: edit, on_fail: { ${RETRY} } }`), {
      agent: [no, gone, ok("agent")],
    });
    expect(trace(run).slice(3)).toEqual([
      ...["retry agent 1/2 +300", "start agent", "fail agent WORKER_LOST", "climb agent restart"],
      ...["restart agent 1/5", "set aside agent 2 for agent", "aside agent 2 ok", "start agent", "ok agent"],
      "run completed",
    ]);
  });

  it("of a repair goes on in what it left, because the files that it is to repair lie there too", async () => {
    const steps = "  agent: { exec: edit, on_fail: { run: [fix] } }\n  fix: { exec: edit, start: routed }";
    const run = await trial(file(steps), { agent: [no, ok("agent")], fix: [gone, ok("fix")] });
    expect(trace(run)).toEqual([
      ...["start agent", "fail agent EXIT_1", "climb agent remediate", "remediate agent by fix"],
      ...["start fix", "fail fix WORKER_LOST", "climb fix restart", "restart fix 1/5", "start fix", "ok fix"],
      ...["remediated agent", "start agent", "ok agent", "run completed"],
    ]);
  });

  it("of an edge's target goes on in what it left, also after a failure of its own", async () => {
    const run = await trial(
      `${file(`  agent: { exec: edit }\n  rescue: { exec: edit, on_fail: { ${RETRY} } }`)}transitions: [{ from: agent, to: rescue, on: failure }]`,
      { agent: [no], rescue: [no, gone, ok("rescue")] },
    );
    expect(trace(run).filter((line) => line.includes("aside"))).toEqual([]);
    expect(run.order).toEqual(["agent", "rescue", "rescue", "rescue"]);
    expect(run.run.status).toBe("completed");
  });

  it("leaves nothing to the repair either, when restarts are used up", async () => {
    const steps = "  agent: { exec: edit, on_fail: { run: [fix] } }\n  fix: { exec: edit, start: routed }";
    const run = await trial(file(steps, "max_recoveries: 0"), { agent: [gone, ok("agent")] });
    expect(trace(run)).toEqual([
      ...["start agent", "fail agent WORKER_LOST", "climb agent remediate", "remediate agent by fix"],
      ...["set aside agent 1 for fix", "aside agent 1 ok", "start fix", "ok fix", "remediated agent"],
      ...["start agent", "ok agent", "run completed"],
    ]);
  });

  it("in a fresh workspace is set aside there", async () => {
    const heal = "self_heal: { step_max_attempts: 3, step_no_progress_limit: 1 }";
    const stage = await Stage.begin(file("  agent: { exec: edit }", heal), {
      agent: [no, gone, ok("agent")],
    });
    expect((await traceOf(stage)).slice(4)).toEqual([
      ...["rebuild 1 for agent from []", "rebuilt 1 ok", "start agent", "fail agent WORKER_LOST"],
      ...["climb agent restart", "restart agent 1/5", "set aside agent 2 for agent", "aside agent 2 ok"],
      ...["start agent", "ok agent", "promoted 1", "run completed"],
    ]);
    expect(stage.workspaces.setAsides).toEqual(["/workspace-1"]);
  });
});

describe("setting aside", () => {
  const slow = { setAsides: [{ takesMs: 100 }] } as const;

  it("is done again by the next engine, whoever waits by then, and not for ever", async () => {
    const script: Script = { agent: [no], other: [ok("other")] };
    const stage = await Stage.begin(file(TWO, "max_recoveries: 1"), script, slow);
    for (let crash = 0; crash < 2; crash += 1) {
      stage.kill();
      await stage.resume();
    }
    expect((await traceOf(stage)).slice(4)).toEqual([
      ...["set aside agent 1 for other", "set aside agent 1 for other try 2", "aside agent 1 failed"],
      ...["failed other RESET_FAILED", "run failed EXIT_1"],
    ]);
  });

  it("after one crash ends well", async () => {
    const stage = await Stage.begin(file(TWO), { agent: [no], other: [ok("other")] }, slow);
    stage.kill();
    await stage.resume();
    expect((await traceOf(stage)).slice(4)).toEqual([
      ...["set aside agent 1 for other", "set aside agent 1 for other try 2", "aside agent 1 ok"],
      ...["start other", "ok other", "run failed EXIT_1"],
    ]);
  });

  it("that is impossible fails the job that was to start, and a retry of the first still finds what it left", async () => {
    const steps = `${TWO}\n  after: { exec: edit, depends_on: [other] }`;
    const stage = await Stage.begin(
      file(steps),
      { agent: [no, ok("agent")], other: [ok("other")] },
      { setAsides: ["fail", "ok"] },
    );
    expect((await traceOf(stage)).slice(3)).toEqual([
      ...["failed agent EXIT_1", "set aside agent 1 for other", "aside agent 1 failed"],
      ...["failed other RESET_FAILED", "canceled after DEPENDENCY_FAILED", "run failed EXIT_1"],
    ]);
    expect((await stage.view()).job("other").error).toMatchObject({
      code: "RESET_FAILED",
      message: "what attempt 1 of agent left could not be set aside: a file cannot be removed",
    });
    expect(await stage.operate({ type: "step.retry", job: await stage.id("agent") })).toBeNull();
    await stage.resume();
    expect((await traceOf(stage)).slice(9)).toEqual([
      ...["run reopened", "retried agent", "start agent", "ok agent", "run failed RESET_FAILED"],
    ]);
  });

  it("is ended before a canceled run is over", async () => {
    const stage = await Stage.begin(file(TWO), { agent: [no] }, slow);
    expect(await stage.operate({ type: "run.cancel" })).toBeNull();
    expect((await stage.view()).run.status).toBe("running");
    expect((await traceOf(stage)).slice(4)).toEqual([
      ...["set aside agent 1 for other", "abandoned root canceled", "aside agent 1 ok", "run canceled"],
    ]);
  });

  it("is ended before a paused run is let go of", async () => {
    const stage = await Stage.begin(file(TWO), { agent: [no] }, slow);
    expect(await stage.operate({ type: "run.pause", takeover: false })).toBeNull();
    expect((await traceOf(stage)).slice(4)).toEqual([
      ...["set aside agent 1 for other", "run paused", "aside agent 1 ok"],
    ]);
    await stage.resume();
    expect((await traceOf(stage)).slice(7)).toEqual([
      "run unpaused",
      "start other",
      "ok other",
      "run failed EXIT_1",
    ]);
  });

  it("keeps operators from swapping the tree, unless they insist", async () => {
    const stage = await Stage.begin(file(TWO), { agent: [no] }, slow);
    const job = await stage.id("agent");
    expect(await stage.operate({ type: "step.hard_reset", job })).toBe("WORKSPACE_BUSY");
    expect(await stage.operate({ type: "step.resume_from", job })).toBe("WORKSPACE_BUSY");
    expect(await stage.operate({ type: "step.resume_from", job, force: true })).toBeNull();
    expect((await traceOf(stage)).slice(4, 9)).toEqual([
      ...["set aside agent 1 for other", "operator goto agent", "aside agent 1 ok"],
      ...["rebuild 1 for agent from []", "rebuilt 1 ok"],
    ]);
  });

  it("waits for the end of a pause, as all that starts", async () => {
    const stage = await Stage.begin(file(TWO), { agent: [{ ...no, takesMs: 50 }], other: [ok("other")] });
    expect(await stage.operate({ type: "run.pause", takeover: false })).toBeNull();
    expect((await traceOf(stage)).at(-1)).toBe("failed agent EXIT_1");
    await stage.resume();
    expect((await traceOf(stage)).slice(5)).toEqual([
      ...["run unpaused", "set aside agent 1 for other", "aside agent 1 ok", "start other", "ok other"],
      "run failed EXIT_1",
    ]);
  });
});

describe("an operator", () => {
  it("who retries before another step starts lets the step find what it left, before that one's turn", async () => {
    const steps = `  agent: { exec: edit }\n  slow: { type: noop }\n  other: { exec: edit, depends_on: [slow] }`;
    const stage = await Stage.begin(file(steps, "unhandled: hold"), {
      agent: [no, ok("agent")],
      slow: [{ output: null, takesMs: 100 }],
      other: [ok("other")],
    });
    expect(await stage.operate({ type: "run.pause", takeover: true })).toBeNull();
    await stage.turn();
    expect(await stage.statuses("agent", "other")).toEqual(["held", "ready"]);
    const items = [{ job: await stage.id("agent"), action: "retry" as const, output: null, items: null }];
    expect(await stage.operate({ type: "holds.resolve", items })).toBeNull();
    await stage.resume();
    expect((await traceOf(stage)).slice(-6)).toEqual([
      ...["run unpaused", "start agent", "ok agent", "start other", "ok other", "run completed"],
    ]);
    expect(stage.workspaces.setAsides).toEqual([]);
  });

  it("who retries a repair that had failed lets it find what it left, before another's turn", async () => {
    const steps = `  agent: { exec: edit, on_fail: { run: [fix] } }
  other: { exec: edit }
  fix: { exec: edit, start: routed }`;
    const script: Script = { agent: [no], fix: [{ ...no, takesMs: 50 }, ok("fix")], other: [ok("other")] };
    const stage = await Stage.begin(file(steps), script);
    expect(await stage.operate({ type: "run.pause", takeover: true })).toBeNull();
    await stage.turn();
    expect(await stage.operate({ type: "step.retry", job: await stage.id("fix") })).toBeNull();
    await stage.resume();
    expect((await traceOf(stage)).slice(-7)).toEqual([
      ...["retried fix", "run unpaused", "start fix", "ok fix", "start other", "ok other"],
      "run failed REMEDIATION_FAILED",
    ]);
    expect(stage.workspaces.setAsides).toEqual([]);
  });

  it("who asks for a hard reset of another step waits until the failure is mended", async () => {
    const steps = `  agent: { exec: edit, on_fail: { ${RETRY} } }\n  other: { exec: edit }`;
    const stage = await Stage.begin(file(steps), {
      other: [no, ok("other")],
      agent: [ok("agent"), no, ok("agent")],
    });
    await stage.rest();
    const [agent, other] = [await stage.id("agent"), await stage.id("other")];
    expect(await stage.operate({ type: "step.resume_from", job: agent })).toBeNull();
    await stage.resume();
    expect(await stage.operate({ type: "step.hard_reset", job: other })).toBeNull();
    expect((await traceOf(stage)).slice(9)).toEqual([
      ...["rebuild 1 for agent from []", "rebuild 1 for agent from [] try 2", "rebuilt 1 ok", "promoted 1"],
      ...[
        "again agent",
        "start agent",
        "fail agent EXIT_1",
        "climb agent retry",
        "retry agent 1/2 +300",
        "retried other",
      ],
      ...[
        "reset other for operator",
        "start agent",
        "ok agent",
        "rebuild 2 for other from [2]",
        "rebuilt 2 ok",
      ],
      ...["start other", "ok other", "promoted 2", "run completed"],
    ]);
  });

  it("who retries a step while the step that its failure went to is being mended waits for that one", async () => {
    const steps = `  agent: { exec: edit }\n  fallback: { exec: edit, start: routed, on_fail: { ${RETRY} } }`;
    const stage = await Stage.begin(
      file(steps, "transitions: [{ from: agent, to: fallback, on: failure }]"),
      {
        agent: [no, ok("agent")],
        fallback: [no, ok("fallback")],
      },
    );
    expect(await stage.operate({ type: "step.retry", job: await stage.id("agent") })).toBeNull();
    expect((await traceOf(stage)).slice(5)).toEqual([
      ...["start fallback", "fail fallback EXIT_1", "climb fallback retry", "retry fallback 1/2 +300"],
      ...["retried agent", "start fallback", "ok fallback", "start agent", "ok agent", "run completed"],
    ]);
    expect(stage.workspaces.setAsides).toEqual([]);
  });
});

describe("a goto that cannot take the tree back", () => {
  it("leaves the checkpoints in force, since their files are still there", async () => {
    const steps = `  plan: { exec: edit }
  agent: { exec: edit, depends_on: [plan], on_fail: { goto: plan, retry: { max: 0 } } }
  gate: { type: noop }
  late: { exec: edit, depends_on: [gate] }`;
    const heal = "self_heal: { step_max_attempts: 2, step_no_progress_limit: 1 }";
    const run = await trial(
      file(steps, heal),
      {
        plan: [ok("plan")],
        agent: [no],
        gate: [{ output: null, takesMs: 100 }],
        late: [no, ok("late")],
      },
      { rebuilds: ["fail", "ok"] },
    );
    expect(trace(run).filter((line) => /^(rebuil|failed|set aside|start late)/.test(line))).toEqual([
      ...["rebuild 1 for plan from []", "rebuilt 1 failed", "failed plan RESET_FAILED"],
      ...[
        "set aside agent 1 for late",
        "start late",
        "rebuild 2 for late from [1]",
        "rebuilt 2 ok",
        "start late",
      ],
    ]);
  });
});

describe("a run that is canceled while a goto restores the tree", () => {
  it("goes on from there when it is reset: the step whose success went back stays completed", async () => {
    const steps = `  plan: { exec: edit }
  edit: { exec: edit, depends_on: [plan], on_success: { goto_js: "return visit < 2 ? 'plan' : null" } }
  ship: { exec: edit, depends_on: [edit] }`;
    const stage = await Stage.begin(file(steps), {}, { rebuilds: [{ takesMs: 100 }] });
    expect((await trace(await stage.view())).at(-1)).toBe("rebuild 1 for plan from []");
    expect(await stage.operate({ type: "run.cancel" })).toBeNull();
    expect((await stage.rest()).run.status).toBe("canceled");
    expect(await stage.operate({ type: "run.reset" })).toBeNull();
    await stage.resume();
    expect((await traceOf(stage)).slice(-4)).toEqual([
      "retried ship",
      "start ship",
      "ok ship",
      "run completed",
    ]);
  });
});
