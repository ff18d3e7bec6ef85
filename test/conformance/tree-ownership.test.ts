import { describe, expect, it } from "vitest";
import { type TrialOptions, trial } from "../support/harness.js";
import { checkpointed as ok, type Script } from "../support/scripted-worker.js";
import { trace } from "../support/trace.js";

const file = (steps: string, ...keys: string[]): string =>
  `name: tree\nworkspace: { repo: . }\n${keys.join("\n")}\nsteps:\n${steps}\n`;
const RETRY = "retry: { max: 2, backoff: { mode: fixed, delay_ms: 300 } }";
const no = { exit: 1, stderr: "no" };

async function traceOf(text: string, script: Script, options: TrialOptions = {}): Promise<string[]> {
  return trace(await trial(text, script, options));
}

describe("a failed step keeps the tree", () => {
  it("through the wait for its retry, while steps outside the workspace go on", async () => {
    const steps = `  agent: { exec: edit, on_fail: { ${RETRY} } }\n  other: { exec: edit }\n  ask: { type: noop }`;
    const run = await trial(file(steps), { agent: [no, no, ok("agent")], other: [ok("other")] });
    expect(trace(run)).toEqual([
      ...[
        "start agent",
        "start ask",
        "fail agent EXIT_1",
        "climb agent retry",
        "retry agent 1/2 +300",
        "ok ask",
      ],
      ...["start agent", "fail agent EXIT_1", "climb agent retry", "retry agent 2/2 +300"],
      ...["start agent", "ok agent", "start other", "ok other", "run completed"],
    ]);
    expect(run.times).toEqual([0, 0, 300, 600, 600]);
  });

  it("through its rule's recovery script", async () => {
    const handlers =
      "failure_handlers: [{ name: tidy, rules: [{ match_all_exit_codes: true, recovery_script: ./tidy.sh }] }]";
    const steps = "  agent: { exec: edit, failure_handler: tidy }\n  other: { exec: edit }";
    const script = { agent: [no, ok("agent")], "agent script": [{ output: null, takesMs: 500 }] };
    expect(await traceOf(file(steps, handlers), script)).toEqual([
      ...["start agent", "fail agent EXIT_1", "climb agent rule", "reserve agent attempt 2 by tidy rule 1"],
      ...["script agent try 1", "script over agent ok", "start agent", "ok agent", "start other", "ok other"],
      "run completed",
    ]);
  });

  it("through a hard reset, so that the replay has no files of others", async () => {
    const heal =
      "self_heal: { step_max_attempts: 4, step_no_progress_limit: 2, job_self_heal_max_resets: 1 }";
    const steps = `  agent: { exec: edit, on_fail: { ${RETRY.replace("2", "3")} } }\n  other: { exec: edit }`;
    const script = { agent: [no, no, ok("agent")], other: [ok("other")] };
    expect(await traceOf(file(steps, heal), script)).toEqual([
      ...["start agent", "fail agent EXIT_1", "climb agent retry", "retry agent 1/3 +300"],
      ...["start agent", "fail agent EXIT_1", "climb agent reset", "reset agent for no_progress 1/1"],
      ...["rebuild 1 for agent from []", "rebuilt 1 ok", "start agent", "ok agent", "promoted 1"],
      ...["start other", "ok other", "run completed"],
    ]);
  });

  it("through its repair and what follows the repair, up to its next attempt", async () => {
    const steps = `  agent: { exec: edit, on_fail: { run: [fix, fix2] } }
  other: { exec: edit }
  fix: { exec: edit, start: routed, on_fail: { ${RETRY} }, on_success: { run: [tell] } }
  fix2: { type: noop, start: routed }
  tell: { exec: edit, start: routed }`;
    const script: Script = {
      agent: [no, ok("agent")],
      fix: [no, ok("fix")],
      fix2: [{ output: null, takesMs: 100 }],
      tell: [ok("tell", { takesMs: 100 })],
      other: [ok("other")],
    };
    expect(await traceOf(file(steps), script)).toEqual([
      ...["start agent", "fail agent EXIT_1", "climb agent remediate", "remediate agent by fix fix2"],
      ...["start fix", "fail fix EXIT_1", "climb fix retry", "retry fix 1/2 +300", "start fix", "ok fix"],
      ...["follow up fix by tell", "start tell", "ok tell", "followed up fix", "start fix2", "ok fix2"],
      ...["remediated agent", "start agent", "ok agent", "start other", "ok other", "run completed"],
    ]);
  });

  it("through its edge's target and that one's, whether or not they use the workspace", async () => {
    const steps = `  agent: { exec: edit }
  other: { exec: edit }
  first: { type: noop, start: routed }
  second: { exec: edit, start: routed, on_fail: { ${RETRY} } }`;
    const edges =
      "transitions: [{ from: agent, to: first, on: failure }, { from: first, to: second, on: failure }]";
    const script: Script = {
      agent: [no],
      first: [{ exit: 1, takesMs: 100 }],
      second: [no, ok("second")],
      other: [ok("other")],
    };
    expect(await traceOf(file(steps, edges), script)).toEqual([
      ...["start agent", "fail agent EXIT_1", "climb agent edge", "failed agent EXIT_1"],
      ...["edge 1 agent -> first on failure", "start first", "fail first EXIT_1", "climb first edge"],
      ...["failed first EXIT_1", "edge 2 first -> second on failure", "start second", "fail second EXIT_1"],
      ...["climb second retry", "retry second 1/2 +300", "start second", "ok second", "start other"],
      ...["ok other", "settled handled [agent first] unhandled []", "run completed"],
    ]);
  });

  it("while the `if` of its edge's target is decided", async () => {
    const steps = `  agent: { exec: edit }\n  other: { exec: edit }\n  mend: { exec: edit, start: routed, if: "visit === 1" }`;
    const edges = "transitions: [{ from: agent, to: mend, on: failure }]";
    expect((await traceOf(file(steps, edges), { agent: [no] })).slice(5)).toEqual([
      ...["evaluated mend if: true", "start mend", "ok mend", "start other", "ok other"],
      ...["settled handled [agent] unhandled []", "run completed"],
    ]);
  });

  it("through an edge to a step that has run before, where no files are taken back for it", async () => {
    const steps = `  call: { type: noop, start: auto }
  slow: { type: noop, depends_on: [call] }
  agent: { exec: edit }
  other: { exec: edit }`;
    const edges = "transitions: [{ from: agent, to: call, on: failure }]";
    const script: Script = {
      agent: [{ ...no, takesMs: 50 }],
      call: ["ok", { output: null, takesMs: 100 }],
      slow: [{ output: null, takesMs: 80 }],
    };
    expect((await traceOf(file(steps, edges), script)).slice(4)).toEqual([
      ...[
        "fail agent EXIT_1",
        "climb agent edge",
        "failed agent EXIT_1",
        "edge 1 agent -> call on failure, again",
      ],
      ...[
        "stopped slow superseded",
        "again call slow",
        "start call",
        "ok call",
        "set aside agent 1 for other",
      ],
      ...["start slow", "aside agent 1 ok", "start other", "ok other", "ok slow"],
      ...["settled handled [agent] unhandled []", "run completed"],
    ]);
  });

  it("from the step that had led to it, too, when another step wants that one as its repair", async () => {
    const steps = `  agent: { exec: edit, start: auto }
  ask: { type: noop, on_fail: { run: [agent] } }
  mend: { exec: edit, start: routed, on_fail: { ${RETRY} } }`;
    const edges = "transitions: [{ from: agent, to: mend, on: failure }]";
    const script: Script = {
      agent: [no, ok("agent")],
      ask: [{ exit: 1, takesMs: 100 }, "ok"],
      mend: [no, ok("mend")],
    };
    expect((await traceOf(file(steps, edges), script)).slice(6)).toEqual([
      ...["start mend", "fail mend EXIT_1", "climb mend retry", "retry mend 1/2 +300", "fail ask EXIT_1"],
      ...["climb ask remediate", "remediate ask by agent", "start mend", "ok mend", "start agent"],
      ...["ok agent", "remediated ask", "start ask", "ok ask", "run completed"],
    ]);
  });

  it("in an item of a list, and the next item waits", async () => {
    const steps = `  list: { type: noop, forEach: true }\n  item: { exec: "edit {{ foreach.index }}", depends_on: [list], on_fail: { ${RETRY} } }`;
    const run = await trial(file(steps), {
      list: [{ output: ["a", "b"] }],
      item: ({ variables }, nth) =>
        (variables.foreach as { index: number }).index === 0 && nth === 1 ? no : ok("item"),
    });
    expect(run.order).toEqual(["list", "item[0]", "item[0]", "item[1]"]);
    expect(run.times).toEqual([0, 0, 300, 300]);
  });
});

describe("a failed step lets go of the tree", () => {
  const OTHER = ["set aside agent 1 for other", "aside agent 1 ok", "start other", "ok other"];

  it("when it fails for good: what it left is set aside before another starts, and not before", async () => {
    const steps =
      "  agent: { exec: edit }\n  slow: { type: noop }\n  other: { exec: edit, depends_on: [slow] }";
    const script: Script = { agent: [no], slow: [{ output: null, takesMs: 200 }], other: [ok("other")] };
    const run = await trial(file(steps), script);
    expect(trace(run)).toEqual([
      ...["start agent", "start slow", "fail agent EXIT_1", "climb agent fail", "failed agent EXIT_1"],
      ...["ok slow", ...OTHER, "run failed EXIT_1"],
    ]);
    expect(run.events("set_aside.finished")).toMatchObject([
      { ok: true, patch: `patches/partial/j${run.job("agent").id}_a1.patch`, files: 1 },
    ]);
    expect(run.events("attempt.succeeded").at(-1)!.checkpoint!.ordinal).toBe(1);
  });

  it("when it is requeued", async () => {
    const queue =
      "queue: { max_attempts: 2, classes: [application], backoff: { mode: fixed, delay_ms: 1000 } }";
    const steps = "  agent: { exec: edit }\n  other: { exec: edit }";
    const script: Script = { agent: [no, ok("agent")], other: [ok("other", { takesMs: 5_000 })] };
    expect(await traceOf(file(steps, queue), script)).toEqual([
      ...[
        "start agent",
        "fail agent EXIT_1",
        "climb agent requeue",
        "requeue agent 1/1 +1000",
        ...OTHER.slice(0, 3),
      ],
      ...["reset agent for requeue", "ok other", "rebuild 1 for agent from [1]", "rebuilt 1 ok"],
      ...["start agent", "ok agent", "promoted 1", "run completed"],
    ]);
  });

  it("when it is held", async () => {
    const steps = "  agent: { exec: edit }\n  other: { exec: edit }";
    expect(await traceOf(file(steps, "unhandled: hold"), { agent: [no] })).toEqual([
      ...["start agent", "fail agent EXIT_1", "climb agent hold", "held agent EXIT_1", ...OTHER, "run held"],
    ]);
  });

  it("and takes no hold of it when its `if` fails, since it has begun nothing there", async () => {
    const steps = `  agent: { exec: edit, if: nowhere.x, on_fail: { run: [fix] } }
  other: { exec: edit, depends_on: [gate] }
  gate: { type: noop }
  fix: { type: noop, start: routed }`;
    const script: Script = { fix: [{ output: null, takesMs: 200 }], gate: [{ output: null, takesMs: 100 }] };
    expect(await traceOf(file(steps), script)).toEqual([
      ...["start gate", "evaluated agent if: EXPRESSION_THREW", "if failed agent", "climb agent remediate"],
      ...["remediate agent by fix", "start fix", "ok gate", "start other", "ok other", "ok fix"],
      ...["remediated agent", "evaluated agent if: EXPRESSION_THREW", "if failed agent", "climb agent fail"],
      ...["failed agent IF_FAILED", "run failed IF_FAILED"],
    ]);
  });

  it("when it passes max_loops in its item", async () => {
    const steps = `  list: { type: noop, forEach: true }\n  item: { exec: "edit {{ foreach.index }}", depends_on: [list], on_fail: { ${RETRY} } }`;
    const run = await trial(file(steps, "routing: { max_loops: 0 }"), {
      list: [{ output: ["a", "b"] }],
      item: [no],
    });
    expect(trace(run).slice(2, 12)).toEqual([
      ...["start item[0]", "fail item[0] EXIT_1", "climb item[0] fail"],
      "loop budget of root/list[0]: retry of item[0] after 0 of 0",
      ...["failed item[0] LOOP_BUDGET_EXCEEDED", "abandoned root/list[0] loop_budget"],
      ...["set aside item[0] 1 for item[1]", "aside item[0] 1 ok", "start item[1]", "fail item[1] EXIT_1"],
    ]);
  });

  it("when its repair is at work for another", async () => {
    const steps = `  ask: { type: noop, on_fail: { run: [fix] } }
  agent: { exec: edit, on_fail: { run: [fix] } }
  fix: { exec: edit, start: routed }`;
    const script: Script = {
      ask: ["fail", "ok"],
      agent: [{ ...no, takesMs: 100 }, ok("agent")],
      fix: [ok("fix")],
    };
    expect(await traceOf(file(steps), script)).toEqual([
      ...["start ask", "start agent", "fail ask EXIT_1", "climb ask remediate", "remediate ask by fix"],
      ...["fail agent EXIT_1", "climb agent remediate", "remediate agent by fix"],
      ...[
        "set aside agent 1 for fix",
        "aside agent 1 ok",
        "start fix",
        "ok fix",
        "remediated ask",
        "start ask",
      ],
      ...["start fix", "ok ask", "ok fix", "remediated agent", "start agent", "ok agent", "run completed"],
    ]);
  });

  it("when it goes back: the tree is restored, and what it left is kept as a patch all the same", async () => {
    const steps = `  plan: { exec: edit }
  agent: { exec: edit, depends_on: [plan], on_fail: { goto_js: "return visit < 2 ? 'plan' : null" } }
  other: { exec: edit }`;
    const run = await trial(file(steps), {
      plan: [ok("plan")],
      other: [ok("other", { takesMs: 100 })],
      agent: [no, ok("agent")],
    });
    expect(trace(run)).toEqual([
      ...["start plan", "ok plan", "start other", "ok other", "start agent", "fail agent EXIT_1"],
      ...['evaluated agent on_fail.goto_js: "plan"', "climb agent goto"],
      ...["goto agent -> plan after failure, loop 1", "rebuild 1 for plan from [2]", "rebuilt 1 ok"],
      ...[
        "promoted 1",
        "again plan agent",
        "start plan",
        "ok plan",
        "start agent",
        "ok agent",
        "run completed",
      ],
    ]);
    const left = { job: run.job("agent").id, attempt: 1 };
    expect(run.events("rebuild.started")[0]!.leftover).toEqual(left);
    expect(run.events("rebuild.finished")[0]!.partial).toMatchObject({ ...left, files: 1 });
  });

  it("but not when its edge leads to a step whose files are taken back: that one comes first", async () => {
    const steps = "  plan: { exec: edit, start: auto }\n  agent: { exec: edit }\n  other: { exec: edit }";
    const edges = "transitions: [{ from: agent, to: plan, on: failure, files: restore }]";
    const script: Script = { plan: [ok("plan"), no, ok("plan")], agent: [no], other: [ok("other")] };
    expect((await traceOf(file(steps, edges), script)).slice(2)).toEqual([
      ...["start agent", "fail agent EXIT_1", "climb agent edge", "failed agent EXIT_1"],
      ...[
        "edge 1 agent -> plan on failure, again",
        "rebuild 1 for plan from []",
        "rebuilt 1 ok",
        "promoted 1",
      ],
      ...["again plan", "start plan", "fail plan EXIT_1", "climb plan fail", "failed plan EXIT_1"],
      ...["set aside plan 2 for other", "aside plan 2 ok", "start other", "ok other"],
      ...["settled handled [] unhandled [agent]", "run failed EXIT_1"],
    ]);
  });

  it("when another step's goto restores the tree: its retry begins there", async () => {
    const steps = `  plan: { exec: edit }
  ask: { type: noop, depends_on: [plan], on_fail: { goto_js: "return visit < 2 ? 'plan' : null" } }
  agent: { exec: edit, on_fail: { ${RETRY} } }`;
    const run = await trial(file(steps), {
      plan: [ok("plan")],
      ask: [{ exit: 1, takesMs: 100 }, "ok"],
      agent: [no, ok("agent")],
    });
    expect(trace(run)).toEqual([
      ...["start plan", "ok plan", "start agent", "start ask", "fail agent EXIT_1", "climb agent retry"],
      ...[
        "retry agent 1/2 +300",
        "fail ask EXIT_1",
        'evaluated ask on_fail.goto_js: "plan"',
        "climb ask goto",
      ],
      ...[
        "goto ask -> plan after failure, loop 1",
        "rebuild 1 for plan from []",
        "rebuilt 1 ok",
        "promoted 1",
      ],
      ...["again plan ask", "start plan", "ok plan", "start ask", "ok ask", "start agent", "ok agent"],
      "run completed",
    ]);
    expect(run.events("rebuild.started")[0]!.leftover).toEqual({ job: run.job("agent").id, attempt: 1 });
  });

  it("once for all: when another has worked there, a route that comes to life again has no claim", async () => {
    const steps = `  agent: { exec: edit }
  call: { type: noop, start: routed }
  other: { exec: edit }
  gate: { type: noop }
  late: { exec: edit, depends_on: [gate] }`;
    const keys = ["unhandled: hold", "transitions: [{ from: agent, to: call, on: failure }]"];
    const run = await trial(
      file(steps, ...keys),
      {
        agent: [no],
        call: [{ exit: 1 }, { output: null, takesMs: 5_000 }],
        gate: [{ output: null, takesMs: 200 }],
        other: [ok("other")],
        late: [ok("late")],
      },
      {
        onTurn: (engine, runId, turn) => {
          if (turn > 0) return;
          const items = [
            { job: runId * 10_000_000 + 2, action: "retry" as const, output: null, items: null },
          ];
          engine.post(runId, { type: "holds.resolve", items, reason: "because", key: null });
        },
      },
    );
    expect(trace(run).slice(2)).toEqual([
      ...["fail agent EXIT_1", "climb agent edge", "failed agent EXIT_1", "edge 1 agent -> call on failure"],
      ...["start call", "fail call EXIT_1", "climb call hold", "held call EXIT_1", ...OTHER],
      ...["resolved call retry", "retried call", "start call", "ok gate", "start late", "ok late", "ok call"],
      ...["settled handled [agent] unhandled []", "run completed"],
    ]);
  });
});
