import { describe, expect, it } from "vitest";
import { jobsToReset, refusalOf } from "../../src/core/decide/refusals/operator-refusals.js";
import { Stage } from "../support/stage.js";

/** `a` fails once and `fix` stands in for it; `d` and `e` come after it. */
const TEXT = `steps:
  setup: { exec: "true", start: auto }
  a: { exec: "true", depends_on: setup, on_fail: { edge: { to: fix, then: continue } } }
  fix: { exec: "true" }
  d: { exec: "{{ outputs.a }}", depends_on: a }`;

async function stoodIn() {
  const stage = await Stage.begin(TEXT, { a: ["fail", "ok"] });
  await stage.rest();
  return stage;
}

describe("a step that another stood in for", () => {
  it("is not simply retried: what depends on it has gone on", async () => {
    const stage = await stoodIn();
    expect(await stage.operate({ type: "step.retry", job: await stage.id("a") })).toBe("STEP_COMPLETED");
    const command = { type: "step.retry", job: await stage.id("a"), reason: "", key: null } as const;
    expect(refusalOf(stage.live!, command)).toMatchObject({
      message: "a failed, fix stood in for it, and what depends on it has gone on",
      hint: {
        typed: `\`daruma resume-from ${stage.runId} a\` goes back to it: the step and everything that depends on it run again.`,
      },
    });
    expect(await stage.operate({ type: "step.redrive", job: await stage.id("a") })).toBe("NOT_DEAD_LETTER");
  });

  it("begins again with force, as resume_from does, and nothing stands in for it any more", async () => {
    const stage = await stoodIn();
    expect(await stage.operate({ type: "step.retry", job: await stage.id("a"), force: true })).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["setup", "a", "fix", "d", "a", "d"]);
    expect(run.events("operator.goto")).toMatchObject([{ to: "a" }]);
    expect(run.job("a")).toMatchObject({ status: "completed", stood_in_by: null, handling: null, visit: 2 });
    // What stood in keeps what it has done.
    expect(run.job("fix")).toMatchObject({ status: "completed", visit: 1 });
    expect(run.run.status).toBe("completed");
  });

  it("may be stood in for again: its new failure leads to a new visit of the other step", async () => {
    const stage = await Stage.begin(TEXT, { a: ["fail"], fix: [{ output: 1 }, { output: 2 }] });
    await stage.rest();
    await stage.operate({ type: "step.resume_from", job: await stage.id("a") });
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["setup", "a", "fix", "d", "a", "fix", "d"]);
    expect(run.job("a")).toMatchObject({ stood_in_by: "fix", output: { value: 2 } });
    expect(run.job("fix").visit).toBe(2);
  });

  it("is cleared by a goto, too", async () => {
    const stage = await stoodIn();
    await stage.operate({ type: "step.resume_from", job: await stage.id("setup") });
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["setup", "a", "fix", "d", "setup", "a", "d"]);
    expect(run.job("a")).toMatchObject({ status: "completed", stood_in_by: null });
  });

  it("is left alone by reset, which begins again what nothing handled", async () => {
    const stage = await stoodIn();
    expect(jobsToReset(stage.live!)).toEqual([]);
  });

  it("is found again after a crash between the route's end and the look at what it promises", async () => {
    const text = TEXT.replace("depends_on: setup,", "depends_on: setup, outputs: { type: integer },");
    const stage = await Stage.begin(text, { a: ["fail"], fix: [{ output: 7, takesMs: 10 }] });
    await stage.turn();
    stage.kill();
    const run = await (await stage.resume()).rest();
    expect(run.job("a")).toMatchObject({ stood_in_by: "fix", output: { value: 7 } });
    expect(run.run.status).toBe("completed");
  });
});

describe("a fallback that failed and is retried", () => {
  it("stands in when it completes: the steps behind, given up before, go on", async () => {
    const stage = await Stage.begin(TEXT, { a: ["fail"], fix: ["fail", { output: 3 }] });
    expect((await stage.rest()).job("d").status).toBe("canceled");
    expect(await stage.operate({ type: "step.retry", job: await stage.id("fix") })).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["setup", "a", "fix", "fix", "d"]);
    expect(run.job("a")).toMatchObject({ handled: true, stood_in_by: "fix", output: { value: 3 } });
    expect(run.run.status).toBe("completed");
  });

  it("handles the failure where the edge says skip: the steps behind are skipped", async () => {
    const stage = await Stage.begin(TEXT.replace("continue", "skip"), { a: ["fail"], fix: ["fail", "ok"] });
    await stage.rest();
    await stage.operate({ type: "step.retry", job: await stage.id("fix") });
    const run = await (await stage.resume()).rest();
    expect(run.job("d")).toMatchObject({ status: "skipped", skipped_by: run.job("a").id });
    expect(run.run.status).toBe("completed");
  });

  it("leaves the run failed where the edge says fail", async () => {
    const stage = await Stage.begin(TEXT.replace("continue", "fail"), { a: ["fail"], fix: ["fail", "ok"] });
    await stage.rest();
    await stage.operate({ type: "step.retry", job: await stage.id("fix") });
    const run = await (await stage.resume()).rest();
    expect(run.job("d").status).toBe("canceled");
    expect(run.run).toMatchObject({ status: "failed", error: { step_id: "a" } });
  });
});

describe("a step that is retried after its fallback failed", () => {
  const text = `steps:
  test: { exec: "true" }
  lint: { exec: "true" }
  fb: { exec: "true" }
  last: { exec: "true" }
  report: { exec: "true", depends_on: fb }
  publish: { exec: "true", depends_on: test }
transitions:
  - { from: test, to: fb, on: failure }
  - { from: lint, to: fb, on: failure }
  - { from: fb, to: last, on: failure }`;

  async function mended(scripts: Parameters<typeof Stage.begin>[1]) {
    const stage = await Stage.begin(text, scripts);
    expect((await stage.rest()).run.status).toBe("failed");
    expect(await stage.operate({ type: "step.retry", job: await stage.id("test") })).toBeNull();
    return { stage, run: await (await stage.resume()).rest() };
  }

  it("leaves nothing to fall back for: the fallback and where its own failure led have not run", async () => {
    const { run } = await mended({ test: ["fail", "ok"], fb: ["fail"], last: ["fail"] });
    expect(run.order).toEqual(["test", "lint", "fb", "last", "test", "publish"]);
    expect(run.events("jobs.retried")).toMatchObject([
      {
        jobs: [run.job("test").id],
        reblocked: expect.arrayContaining(["fb", "last", "report", "publish"].map((id) => run.job(id).id)),
      },
    ]);
    for (const id of ["fb", "last", "report"])
      expect(run.job(id)).toMatchObject({ status: "skipped", error: null });
    expect(run.run).toMatchObject({ status: "completed", error: null });
  });

  it("falls back again if it fails again", async () => {
    const { run } = await mended({ test: ["fail"], fb: ["fail", "ok"], last: ["fail"] });
    expect(run.order).toEqual(["test", "lint", "fb", "last", "test", "fb", "report"]);
    expect(run.job("test")).toMatchObject({
      handled: true,
      handling: { how: "edge", by: "fb", then: "skip" },
    });
    expect(run.run.status).toBe("completed");
  });

  it("leaves a fallback alone to which another failure has led as well", async () => {
    const { run } = await mended({ test: ["fail", "ok"], lint: ["fail"], fb: ["fail"], last: ["fail"] });
    expect(run.job("publish").status).toBe("completed");
    expect(run.job("fb")).toMatchObject({ status: "failed", handled: false });
    expect(run.run.status).toBe("failed");
  });

  it("leaves alone what a success has led to", async () => {
    const led = text.replace("lint, to: fb, on: failure", "lint, to: fb, on: success");
    const stage = await Stage.begin(led, {
      test: [{ exit: 1, takesMs: 10 }, "ok"],
      fb: [{ exit: 1, takesMs: 100 }],
    });
    await stage.rest();
    expect(await stage.operate({ type: "step.retry", job: await stage.id("test") })).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(run.job("fb").status).toBe("failed");
  });

  it("puts back a fallback that was canceled, too", async () => {
    const stage = await Stage.begin(text, { test: ["fail", "ok"], fb: [{ output: 1, takesMs: 1_000 }] });
    expect(await stage.statuses("test", "fb")).toEqual(["failed", "running"]);
    expect(await stage.operate({ type: "run.cancel" })).toBeNull();
    const canceled = await stage.rest();
    expect(canceled.job("fb").status).toBe("canceled");
    expect(await stage.operate({ type: "step.retry", job: await stage.id("test") })).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(run.job("fb").status).toBe("skipped");
    expect(run.run.status).toBe("completed");
  });
});
