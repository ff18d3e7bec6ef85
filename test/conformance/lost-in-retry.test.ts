import { describe, expect, it } from "vitest";
import type { EarlierFiles } from "../../src/core/model/files-policy.js";
import type { Assignment } from "../../src/run/worker.js";
import { type TrialOptions, trial } from "../support/harness.js";
import { type Outcome, checkpointed as ok, type Script } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const RETRY = "retry: { max: 3, backoff: { mode: fixed, delay_ms: 300 } }";
const file = (steps: string, ...keys: string[]): string =>
  `name: lost\n${keys.some((key) => key.startsWith("workspace")) ? "" : "workspace: { repo: . }"}\n${keys.join("\n")}\nsteps:\n${steps}\n`;
const FIX = `  fix: { type: agent, exec: [./agent], prompt: Do it., on_fail: { ${RETRY} } }`;
const gone: Outcome = { facts: { lost: true, message: "the worker is gone" } };
const HANGS: Outcome = { output: null, takesMs: 1_000_000 };

/** The nth attempt fails, and leaves app.txt. */
const fails = (nth: number, more: { takesMs?: number } = {}): Outcome => ({
  facts: {
    ...{ message: "no", exitCode: nth, diffHash: `d${nth}`, changedFiles: ["app.txt"] },
    patch: `patches/attempts/a${nth}.patch`,
  },
  ...more,
});

/** What each attempt of a step was told: its own last failure, and where changes of attempts before it are. */
function listener(outcomes: readonly Outcome[]) {
  const heard: string[] = [];
  const script = (assignment: Assignment, nth: number): Outcome => {
    const { retry, earlierFiles = [] } = assignment;
    const own = retry === undefined ? "nothing" : `a${retry.attempt} ${retry.failure.code}`;
    heard.push([own, ...earlierFiles.map(noteOf)].join("; "));
    return outcomes[Math.min(nth, outcomes.length) - 1]!;
  };
  return { heard, script };
}

function noteOf({ state, step, attempts, files, patch }: EarlierFiles): string {
  const where = patch === null ? [] : [patch.replace(/^patches\//, "").replace(/j\d+_/, "")];
  return [state, ...(step === null ? [] : [step]), attempts.join("+"), ...files, ...where].join(" ").trim();
}

async function heardIn(
  outcomes: readonly Outcome[],
  text = file(FIX),
  others: Script = {},
  options: TrialOptions = {},
) {
  const fix = listener(outcomes);
  const run = await trial(text, { ...others, fix: fix.script }, options);
  return { heard: fix.heard, run };
}

describe("the attempt after a lost retry", () => {
  it("hears what had failed before that one, and where the changes of both are", async () => {
    const { heard, run } = await heardIn([fails(1), gone, ok("fix")]);
    expect(heard).toEqual(["nothing", "a1 EXIT_1", "a1 EXIT_1; lost 1+2 app.txt partial/a2.patch"]);
    expect(trace(run).slice(3)).toEqual([
      ...["retry fix 1/3 +300", "start fix", "fail fix WORKER_LOST", "climb fix restart", "restart fix 1/5"],
      ...["set aside fix 2 for fix", "aside fix 2 ok", "start fix", "ok fix", "run completed"],
    ]);
  });

  it("and whoever comes later hears of each loss, and of what failed since", async () => {
    const { heard } = await heardIn([fails(1), gone, gone, fails(4), ok("fix")]);
    const lost = "lost 1+2 app.txt partial/a2.patch; lost 3 partial/a3.patch";
    expect(heard.slice(2)).toEqual([
      "a1 EXIT_1; lost 1+2 app.txt partial/a2.patch",
      `a1 EXIT_1; ${lost}`,
      `a4 EXIT_4; ${lost}`,
    ]);
  });

  it("hears of the files also where the first attempt was lost, and of no failure of its own", async () => {
    const { heard } = await heardIn([gone, ok("fix")]);
    expect(heard).toEqual(["nothing", "nothing; lost 1 partial/a1.patch"]);
  });

  it("hears of the loss as of any failure where restarts are used up", async () => {
    const { heard } = await heardIn([fails(1), gone, ok("fix")], file(FIX, "max_recoveries: 0"));
    expect(heard[2]).toBe("a2 WORKER_LOST; lost 1+2 app.txt partial/a2.patch");
  });

  it("hears the same from the next engine, after a crash and after Ctrl-C", async () => {
    for (const end of ["kill", "interrupt"] as const) {
      const fix = listener([fails(1), HANGS, ok("fix")]);
      const stage = await Stage.begin(file(FIX), { fix: fix.script });
      await stage.turn();
      await stage[end]();
      await stage.resume();
      expect((await stage.rest()).run.status).toBe("completed");
      expect(fix.heard[2]).toBe("a1 EXIT_1; lost 1+2 app.txt partial/a2.patch");
    }
  });

  it("hears at another server that nothing of it is there", async () => {
    const fix = listener([fails(1), HANGS, fails(3), ok("fix")]);
    const stage = await Stage.begin(file(FIX), { fix: fix.script });
    await stage.turn();
    stage.kill();
    stage.workspaces.elsewhere = { path: "/b/trees/1", home: "home-b", host: "b", moved: [] };
    await stage.resume();
    expect((await stage.rest()).run.status).toBe("completed");
    expect(fix.heard.slice(2)).toEqual(["a1 EXIT_1; fresh 1+2 app.txt", "a3 EXIT_3; fresh 1+2 app.txt"]);
  });

  it("hears what failed before also without a workspace", async () => {
    const { heard } = await heardIn([fails(1), gone, ok("fix")], `steps:\n${FIX}`);
    expect(heard[2]).toBe("a1 EXIT_1");
  });

  it("hears that it goes on in unfinished work, where the file says so", async () => {
    const { heard } = await heardIn(
      [fails(1), gone, gone, fails(4), ok("fix")],
      file(FIX, "workspace: { repo: ., on_lost: keep }"),
    );
    expect(heard.slice(2)).toEqual([
      ...["a1 EXIT_1; unfinished 2", "a1 EXIT_1; unfinished 2+3", "a4 EXIT_4; unfinished 2+3"],
    ]);
  });

  it("of a repair goes on in unfinished work, too", async () => {
    const steps = `  build: { exec: build, on_fail: { run: [fix] } }\n${FIX}`;
    const { heard } = await heardIn([fails(1), gone, ok("fix")], file(steps), {
      build: [fails(1), ok("build")],
    });
    expect(heard.slice(1)).toEqual(["a1 EXIT_1", "a1 EXIT_1; unfinished 2"]);
  });

  it("in a fresh workspace hears of both ways in which changes went", async () => {
    const heal = "self_heal: { step_max_attempts: 5, step_no_progress_limit: 2 }";
    const { heard } = await heardIn(
      [fails(1), fails(1), fails(3), gone, ok("fix")],
      file("  fix: { type: agent, exec: [./agent], prompt: Do it. }", heal),
    );
    const fresh = "fresh 1+2 app.txt attempts/a1.patch";
    expect(heard.slice(2)).toEqual([
      `a2 EXIT_1; ${fresh}`,
      `a3 EXIT_3; ${fresh}`,
      `a3 EXIT_3; ${fresh}; lost 3+4 app.txt partial/a4.patch`,
    ]);
  });
});

describe("work that an attempt had left", () => {
  const OTHER = `  fix: { exec: fix }\n  other: { exec: edit }`;

  it("and that was set aside for another step is named to a person's retry", async () => {
    const fix = listener([fails(1), ok("fix")]);
    const stage = await Stage.begin(file(OTHER), { fix: fix.script, other: [ok("other")] });
    await stage.rest();
    await stage.operate({ type: "step.retry", job: await stage.id("fix") });
    await (await stage.resume()).rest();
    expect(fix.heard).toEqual(["nothing", "a1 EXIT_1; set_back 1 app.txt partial/a1.patch"]);
  });

  it("and that is still there is not said to be gone", async () => {
    const fix = listener([fails(1), ok("fix")]);
    const stage = await Stage.begin(file("  fix: { exec: fix }"), { fix: fix.script });
    await stage.rest();
    await stage.operate({ type: "step.retry", job: await stage.id("fix") });
    await (await stage.resume()).rest();
    expect(fix.heard).toEqual(["nothing", "a1 EXIT_1"]);
  });

  it("and that is in the checkpoint of its fallback is not said to be gone in a fresh workspace", async () => {
    const fix = listener([fails(1), ok("fix")]);
    const steps = `  fix: { exec: fix }\n  mend: { exec: mend }`;
    const stage = await Stage.begin(file(steps, "transitions: [{ from: fix, to: mend, on: failure }]"), {
      fix: fix.script,
      mend: [ok("mend")],
    });
    await stage.rest();
    await stage.operate({ type: "step.hard_reset", job: await stage.id("fix") });
    await (await stage.resume()).rest();
    expect(fix.heard[1]).toBe("a1 EXIT_1; fresh");
  });

  it("is named where the tree was replaced by that of another step's reset", async () => {
    const fix = listener([fails(1), ok("fix")]);
    const stage = await Stage.begin(file(OTHER, "unhandled: hold"), {
      fix: fix.script,
      other: [ok("other")],
    });
    await stage.rest();
    await stage.operate({ type: "step.resume_from", job: await stage.id("other") });
    await (await stage.resume()).rest();
    await stage.operate({
      type: "holds.resolve",
      items: [{ job: await stage.id("fix"), action: "retry", output: null, items: null }],
    });
    await (await stage.resume()).rest();
    expect(fix.heard).toEqual(["nothing", "a1 EXIT_1; set_back 1 app.txt partial/a1.patch"]);
  });

  it("in a fresh workspace that is let go of is named, and what lay in the old tree is there again", async () => {
    const heal = "self_heal: { step_max_attempts: 2, step_no_progress_limit: 1 }";
    const steps = `  fix: { exec: fix, on_fail: { run: [mend], retry: { max: 1 } } }\n  mend: { exec: mend, start: routed }`;
    const { heard, run } = await heardIn([fails(1), fails(2), ok("fix")], file(steps, heal), {
      mend: [ok("mend")],
    });
    expect(run.order).toEqual(["fix", "fix", "mend", "fix"]);
    expect(heard.slice(1)).toEqual([
      "a1 EXIT_1; fresh 1 app.txt attempts/a1.patch",
      "a2 EXIT_2; set_back 2 app.txt attempts/a2.patch",
    ]);
  });

  it.each([
    ["keep", "set_back 1+2 app.txt partial/a2.patch"],
    ["restore", "set_back 1+2 app.txt partial/a2.patch; taken_back  previous/rebuild-1.patch"],
  ] as const)("of the step that a person goes back to is named: files: %s", async (files, told) => {
    const fix = listener([fails(1), fails(2), ok("fix")]);
    const stage = await Stage.begin(file(FIX.replace("max: 3", "max: 1")), { fix: fix.script });
    await stage.rest();
    await stage.operate({ type: "step.resume_from", job: await stage.id("fix"), files });
    await (await stage.resume()).rest();
    expect(fix.heard.at(-1)).toBe(`a2 EXIT_2; ${told}`);
  });
});

describe("an attempt that completes", () => {
  it("has all that lay in the tree: of a later failure nothing before it is named", async () => {
    const fix = listener([fails(1), ok("fix"), gone, ok("fix")]);
    const steps = `${FIX}\n  review: { exec: review, depends_on: [fix], on_fail: { goto: { step: fix, max: 1 } } }`;
    const run = await trial(file(steps), { fix: fix.script, review: [{ exit: 1 }, ok("review")] });
    expect(run.run.status).toBe("completed");
    expect(fix.heard.slice(2)).toEqual([
      "nothing; kept  fix; set_aside review 1 partial/a1.patch",
      "nothing; kept  fix; set_aside review 1 partial/a1.patch; lost 3 partial/a3.patch",
    ]);
  });
});
