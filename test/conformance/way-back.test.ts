import { describe, expect, it } from "vitest";
import type { Assignment } from "../../src/run/worker.js";
import { type Trial, trial } from "../support/harness.js";
import { type Outcome, checkpointed as ok, type Script } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const file = (steps: string, ...keys: string[]): string =>
  `name: loop\nworkspace: { repo: . }\n${keys.join("\n")}\nsteps:\n${steps}\n`;
const AGENT = "{ type: agent, exec: [./agent], prompt: Do it. }";
const no = { exit: 1, stderr: "no" };
const LOOP = `  fix: ${AGENT}
  review: { exec: review, depends_on: [fix], on_fail: { goto: { step: fix, max: 3 } } }`;

/** What an attempt of the step was given to work in, one entry an attempt. */
type Seen = Assignment["workspace"] & Pick<Assignment, "earlierFiles">;

function seenBy(outcomes: readonly Outcome[], seen: Seen[]): Script[string] {
  return ({ workspace, earlierFiles }, nth) => {
    seen.push({ ...workspace!, ...(earlierFiles === undefined ? {} : { earlierFiles }) });
    return outcomes[Math.min(nth, outcomes.length) - 1]!;
  };
}

const policies = (run: Trial) => run.events("barrier.opened").map(({ files }) => files);
const cuts = (run: Trial) => run.events("barrier.closed").map(({ cut }) => cut);

describe("a goto that keeps the files", () => {
  it("sets aside what the failed step left, and goes on in all that the agent had made", async () => {
    const seen: Seen[] = [];
    const run = await trial(file(LOOP), {
      fix: seenBy([ok("first"), ok("second")], seen),
      review: [no, ok("review")],
    });
    expect(trace(run)).toEqual([
      ...["start fix", "ok fix", "start review", "fail review EXIT_1", "climb review goto"],
      ...["goto review -> fix after failure 1/3, loop 1", "again fix review"],
      ...["set aside review 1 for fix", "aside review 1 ok", "start fix", "ok fix"],
      ...["start review", "ok review", "run completed"],
    ]);
    expect(policies(run)).toEqual(["keep"]);
    expect(cuts(run)).toEqual([undefined]);
    expect(seen).toMatchObject([
      { since: "pinned", ordinal: 1 },
      { since: "commit-first", ordinal: 2 },
    ]);
    const patch = `patches/partial/j${run.job("review").id}_a1.patch`;
    expect(seen.map(({ earlierFiles }) => earlierFiles)).toEqual([
      undefined,
      [
        { state: "kept", step: null, files: ["first"], attempts: [], patch: null },
        { state: "set_aside", step: "review", files: [], attempts: [1], patch },
      ],
    ]);
  });

  it("lets nobody between the barrier and the target, while other steps wait for their turn", async () => {
    const steps = `${LOOP}
  gate: { type: noop }
  other: { exec: edit, depends_on: [gate] }
  slow: { type: noop, depends_on: [fix] }`;
    const run = await trial(file(steps), {
      fix: [ok("first"), ok("second")],
      review: [{ ...no, takesMs: 100 }, ok("review")],
      gate: [{ output: null, takesMs: 50 }],
      slow: [{ output: null, takesMs: 500 }, "ok"],
      other: [ok("other")],
    });
    expect(trace(run).slice(5)).toEqual([
      ...["ok gate", "fail review EXIT_1", "climb review goto"],
      ...["goto review -> fix after failure 1/3, loop 1", "stopped slow superseded"],
      ...["again fix review slow", "set aside review 1 for fix", "aside review 1 ok", "start fix", "ok fix"],
      ...["start other", "start slow", "ok other", "ok slow", "start review", "ok review", "run completed"],
    ]);
  });

  it("sets aside what a step left that was at work meanwhile and had failed by then", async () => {
    const steps = `  fix: ${AGENT}
  ask: { type: noop, depends_on: [fix], on_fail: { goto: { step: fix, max: 1 } } }
  gate: { type: noop }
  other: { exec: edit, depends_on: [gate] }`;
    const run = await trial(file(steps), {
      fix: [ok("first"), ok("second")],
      ask: [{ exit: 1, takesMs: 100 }, "ok"],
      gate: [{ output: null, takesMs: 50 }],
      other: [{ ...no, takesMs: 100 }],
    });
    expect(trace(run).slice(6, -2)).toEqual([
      ...["fail ask EXIT_1", "climb ask goto", "goto ask -> fix after failure 1/1, loop 1"],
      ...["again fix ask", "fail other EXIT_1", "climb other fail", "failed other EXIT_1"],
      ...["set aside other 1 for fix", "aside other 1 ok", "start fix", "ok fix", "start ask"],
    ]);
  });

  it("is replayed whole and in order by a hard reset, two rounds of the same agent among it", async () => {
    const heal =
      "self_heal: { step_max_attempts: 4, step_no_progress_limit: 2, job_self_heal_max_resets: 1 }";
    const steps = `  plan: { exec: plan }
  fix: { type: agent, exec: [./agent], prompt: Do it., depends_on: [plan] }
  review: { exec: review, depends_on: [fix], on_fail: { retry: { max: 0 }, goto: { step: fix, max: 3 } } }`;
    const run = await trial(file(steps, heal), {
      plan: [ok("plan")],
      fix: [ok("first"), ok("second"), no, no, ok("third")],
      review: [no, no, ok("review")],
    });
    expect(run.events("rebuild.started").map(({ replay }) => replay)).toEqual([[1, 2, 3]]);
    expect(run.run.status).toBe("completed");
    expect(run.events("attempt.succeeded").map(({ checkpoint }) => checkpoint?.ordinal)).toEqual([
      1, 2, 3, 4, 5,
    ]);
  });

  it("starts the target in a clean tree also where that one had failed itself", async () => {
    const steps = `  ask: { type: noop }
  fix: { type: agent, exec: [./agent], prompt: Do it. }`;
    const edges =
      "transitions: [{ from: fix, to: ask, on: failure }, { from: ask, to: fix, on: success, when: 'visit > 1' }]";
    const run = await trial(
      file(steps.replace("ask: {", "ask: { start: auto,").replace("fix: {", "fix: { start: auto,"), edges),
      {
        fix: [no, ok("fix")],
      },
    );
    expect(
      trace(run)
        .filter((line) => /fix|aside/.test(line))
        .slice(-4),
    ).toEqual([...["set aside fix 1 for fix", "aside fix 1 ok", "start fix", "ok fix"]]);
  });
});

describe("where nothing is said", () => {
  const steps = (to: string, routing: string) => `  first: { exec: edit }
  agent: { type: agent, exec: [./agent], prompt: Do it., depends_on: [first] }
  review: { exec: review, depends_on: [agent], on_fail: { ${routing.replace("TO", to)} } }`;
  const script: Script = { first: [ok("first")], agent: [ok("agent")], review: [no, ok("review")] };

  it.each([
    ["keeps where it leads to an agent", "agent", "goto: { step: TO, max: 1 }", "keep"],
    ["restores where it leads to anything else", "first", "goto: { step: TO, max: 1 }", "restore"],
    ["does what it says", "agent", "goto: { step: TO, max: 1, files: restore }", "restore"],
    ["does what it says", "first", "goto: { step: TO, max: 1, files: keep }", "keep"],
    ["is judged by its actual target", "agent", "goto: first, goto_js: \"return 'TO'\", goto_max: 1", "keep"],
    [
      "is judged by its actual target",
      "first",
      "goto: { step: agent, files: keep }, goto_js: \"return 'TO'\", goto_max: 1",
      "restore",
    ],
  ])("a goto %s: %s, %s", async (_, to, routing, files) => {
    const run = await trial(file(steps(to, routing)), script);
    expect(policies(run)).toEqual([files]);
    const all = to === "first" ? [1, 2] : [2];
    expect(cuts(run)).toEqual([files === "keep" ? undefined : all]);
    expect(run.run.status).toBe("completed");
  });

  it("a goto after a success follows the same rule, and has no failure to keep the tree for", async () => {
    const again = (files: string) => `  fix: ${AGENT}
  review: { exec: review, depends_on: [fix], on_success: { goto: { step: fix, max: 1${files} } } }`;
    const seen: Seen[] = [];
    const kept = await trial(file(again("")), { fix: [ok("a"), ok("b")], review: [ok("review")] });
    expect(policies(kept)).toEqual(["keep"]);
    const restored = await trial(file(again(", files: restore")), {
      fix: seenBy([ok("a"), ok("b")], seen),
      review: [ok("review")],
    });
    expect(cuts(restored)).toEqual([[1, 2]]);
    const patch = "patches/previous/rebuild-1.patch";
    expect(seen[1]).toMatchObject({ since: "pinned", earlierFiles: [{ state: "taken_back", patch }] });
  });

  it.each([
    ["", "keep", undefined],
    [", files: keep", "keep", undefined],
    [", files: restore", "restore", [1]],
  ])("an edge back keeps: `%s`", async (files, policy, cut) => {
    const edges = `transitions: [{ from: review, to: fix, on: failure${files} }]`;
    const steps = "  fix: { exec: edit, start: auto }\n  review: { exec: review, depends_on: [fix] }";
    const run = await trial(file(steps, edges), { fix: [ok("a"), ok("b")], review: [no, ok("review")] });
    expect(policies(run)).toEqual([policy]);
    expect(cuts(run)).toEqual([cut]);
    expect(run.run.status).toBe("completed");
  });

  it("without a workspace nothing is said of files", async () => {
    const text = `steps:
  fix: ${AGENT}
  review: { exec: review, depends_on: [fix], on_fail: { goto: { step: fix, max: 1 } } }`;
    expect(policies(await trial(text, { review: [no, "ok"] }))).toEqual([undefined]);
  });
});

describe("a way back that restores the files", () => {
  const MENDED = `  fix: { exec: edit }
  side: { exec: edit }
  review: { exec: review, depends_on: [fix], on_fail: { run: [mend], goto: { step: fix, max: 1 } } }
  mend: { exec: edit, start: routed }`;

  it("cuts the line before the target's first checkpoint: repairs go with it, an independent step stays", async () => {
    const seen: Seen[] = [];
    const run = await trial(file(MENDED), {
      fix: seenBy([ok("a"), ok("b")], seen),
      side: [ok("side")],
      mend: [ok("mend")],
      review: [no, no, ok("review")],
    });
    const of = run
      .events("attempt.succeeded")
      .map(({ job, checkpoint }) => [run.jobs.find(({ id }) => id === job)!.step, checkpoint!.ordinal]);
    expect(of.slice(0, 3)).toEqual([
      ["fix", 1],
      ["side", 2],
      ["mend", 3],
    ]);
    expect(cuts(run)).toEqual([[1, 3]]);
    expect(run.events("rebuild.started").map(({ replay }) => replay)).toEqual([[2]]);
    const patch = "patches/previous/rebuild-1.patch";
    expect(seen[1]!.earlierFiles).toEqual([
      { state: "taken_back", step: null, files: ["a", "mend"], attempts: [], patch },
    ]);
  });

  it("after rounds that kept them takes all of them back", async () => {
    const steps = `  fix: ${AGENT}
  review: { exec: review, depends_on: [fix], on_fail: { goto_js: "return visit < 3 ? 'fix' : null" } }
  test: { exec: test, depends_on: [review], on_fail: { goto: { step: fix, max: 1, files: restore } } }`;
    const run = await trial(file(steps), {
      fix: [ok("a"), ok("b"), ok("c"), ok("d")],
      review: [no, no, ok("review")],
      test: [no, ok("test")],
    });
    expect(cuts(run)).toEqual([undefined, undefined, [1, 2, 3, 4]]);
    expect(run.events("rebuild.started").map(({ replay }) => replay)).toEqual([[]]);
  });

  it("wins where one that keeps them widens it", async () => {
    const steps = `  plan: { type: agent, exec: [./agent], prompt: Plan. }
  fix: { exec: edit, depends_on: [plan] }
  one: { type: noop, depends_on: [fix], on_fail: { goto: { step: fix, max: 1 } } }
  two: { type: noop, depends_on: [plan], on_fail: { goto: { step: plan, max: 1 } } }`;
    const script: Script = {
      plan: [ok("plan")],
      fix: [ok("fix")],
      one: [{ exit: 1, takesMs: 10 }, "ok"],
      two: [{ exit: 1, takesMs: 50 }, "ok"],
    };
    const run = await trial(file(steps), script, { rebuilds: [{ takesMs: 100 }, "ok"] });
    expect(run.events("goto.taken").map(({ to }) => to)).toEqual(["fix", "plan"]);
    expect(run.events("barrier.opened").map(({ barrier, files }) => [barrier, files])).toEqual([
      [1, "restore"],
      [1, "restore"],
    ]);
    expect(cuts(run)).toEqual([[1, 2]]);
    expect(run.run.status).toBe("completed");
  });
});

describe("an operator who goes back to an agent", () => {
  const VAIN = `  fix: ${AGENT}
  review: { exec: review, depends_on: [fix], on_fail: { goto: { step: fix, max: 1 } } }`;

  /** The loop has ended in vain after two rounds. */
  async function inVain(seen: Seen[], text = file(VAIN)): Promise<Stage> {
    const stage = await Stage.begin(text, {
      fix: seenBy([ok("first"), ok("second"), ok("third")], seen),
      review: [no, no, ok("review")],
    });
    await stage.rest();
    return stage;
  }

  it("and keeps its files leaves all rounds in place, and sets aside what the review left", async () => {
    const seen: Seen[] = [];
    const stage = await inVain(seen);
    const job = await stage.id("fix");
    expect(
      await stage.operate({ type: "step.resume_from", job, files: "keep", hint: "other way" }),
    ).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(trace(run).slice(-9)).toEqual([
      ...["operator goto fix", "again fix review", "set aside review 2 for fix", "aside review 2 ok"],
      ...["start fix", "ok fix", "start review", "ok review", "run completed"],
    ]);
    expect(policies(run)).toEqual(["keep", "keep"]);
    expect(cuts(run)).toEqual([undefined, undefined]);
    expect(seen[2]).toMatchObject({ since: "commit-second", ordinal: 3 });
    const patch = `patches/partial/j${run.job("review").id}_a2.patch`;
    expect(seen[2]!.earlierFiles).toEqual([
      { state: "kept", step: null, files: ["first", "second"], attempts: [], patch: null },
      { state: "set_aside", step: "review", files: [], attempts: [2], patch },
    ]);
  });

  it("is told before what begins again, and what is taken back, set aside and left", async () => {
    const steps = `  setup: { exec: setup }
  fix: ${AGENT.replace("{", "{ depends_on: [setup],")}
  review: { exec: review, depends_on: [fix], on_fail: { goto: { step: fix, max: 1 } } }
  ship: { exec: ship, depends_on: [review] }
  docs: { exec: docs }`;
    for (const files of ["keep", "restore"] as const) {
      const stage = await Stage.begin(file(steps), {
        setup: [ok("conf")],
        fix: [ok("first"), ok("second")],
        review: [no],
        docs: [ok("docs")],
      });
      await stage.rest();
      const job = await stage.id("fix");
      const { outcome } = await stage.take({ type: "step.resume_from", job, files });
      const fix = { step: "fix", scope: "root" };
      const others = ["setup", "docs"].map((step) => ({ step, scope: "root" }));
      const left = [
        { ...others[0], files: ["conf"] },
        { ...others[1], files: ["docs"] },
      ];
      const rounds = [
        { ...fix, files: ["first"] },
        { ...fix, files: ["second"] },
      ];
      expect(outcome!.goes_back).toMatchObject({
        again: [
          { step: "fix", status: "completed" },
          { step: "review", status: "failed" },
          { step: "ship", status: "canceled" },
        ],
        taken_back: files === "keep" ? [] : rounds,
        set_aside: { step: "review", attempt: 2 },
      });
      const stays = outcome!.goes_back!.stays;
      expect(stays).toHaveLength(files === "keep" ? 4 : 2);
      expect(stays).toEqual(expect.arrayContaining(files === "keep" ? [...left, ...rounds] : left));
    }
    const plain = await Stage.begin("steps: { a: { exec: a } }", { a: ["fail"] });
    await plain.rest();
    const { outcome } = await plain.take({ type: "step.retry", job: await plain.id("a") });
    expect(outcome!.goes_back).toBeNull();
  });

  it.each([{}, { files: "restore" as const }])("and says %j takes its files back", async (said) => {
    const seen: Seen[] = [];
    const stage = await inVain(seen);
    expect(await stage.operate({ type: "step.resume_from", job: await stage.id("fix"), ...said })).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(policies(run)).toEqual(["keep", "restore"]);
    expect(cuts(run)).toEqual([undefined, [1, 2]]);
    expect(seen[2]).toMatchObject({ since: "pinned", earlierFiles: [{ state: "taken_back" }] });
  });

  it("is refused with files to keep where the run has no workspace", async () => {
    const stage = await inVain([], `steps:\n${VAIN}`);
    const job = await stage.id("fix");
    for (const files of ["keep", "restore"] as const)
      expect(await stage.operate({ type: "step.resume_from", job, files })).toBe("NO_WORKSPACE");
    expect(await stage.operate({ type: "step.resume_from", job })).toBeNull();
  });
});
