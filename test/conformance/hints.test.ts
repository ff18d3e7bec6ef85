import { describe, expect, it } from "vitest";
import type { Assignment } from "../../src/run/worker.js";
import { explain } from "../../src/tell/explain.js";
import { workflow } from "../support/harness.js";
import type { Outcome } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";

const HINT = "the parser is right, the test is wrong";

/** What the attempts of a step were told by people. */
function listener(outcomes: readonly Outcome[]) {
  const heard: (string | null)[] = [];
  const script = ({ hint }: Assignment, nth: number): Outcome => {
    heard.push(hint === undefined ? null : `${hint.by}: ${hint.text}`);
    return outcomes[Math.min(nth, outcomes.length) - 1]!;
  };
  return { heard, script };
}

const TOLD = `ann: ${HINT}`;
const BY = { by: "ann", hint: HINT } as const;

describe("a hint", () => {
  it("is told to all attempts of the job until it settles: its own retries keep it", async () => {
    const fix = listener(["fail", "fail", "fail", "ok", "ok"]);
    const stage = await Stage.begin(
      `steps:
  fix: { exec: make, on_fail: { retry: { max: 1 } } }
  test: { exec: make, depends_on: fix, on_fail: { goto: { step: fix, max: 1 } } }`,
      { fix: fix.script, test: ["fail", "ok"] },
    );
    expect((await stage.rest()).run.status).toBe("failed");
    await stage.operate({ type: "step.retry", job: await stage.id("fix"), ...BY });
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["fix", "fix", "fix", "fix", "test", "fix", "test"]);
    // The last visit is that of a goto.
    expect(fix.heard).toEqual([null, null, TOLD, TOLD, null]);
    expect(run.events("jobs.retried")).toMatchObject([{ action: "retry_step", hint: HINT, by: "ann" }]);
    expect(run.run.status).toBe("completed");
  });

  it("is gone in a later visit, whichever way the job comes to it", async () => {
    const build = listener(["fail", "ok", "ok"]);
    const note = listener(["fail", "ok"]);
    const stage = await Stage.begin(
      `steps:
  fix: { exec: make }
  build: { exec: make, depends_on: fix }
  test: { exec: make, depends_on: build, on_fail: { goto: { step: fix, max: 1 } } }
  note: { exec: make, start: auto }
  last: { exec: make, depends_on: [note, test], on_success: { run: [note] } }`,
      { build: build.script, note: note.script, test: ["fail", "ok"] },
    );
    await stage.rest();
    await stage.operate({ type: "run.reset", ...BY });
    const run = await (await stage.resume()).rest();
    expect(run.run.status).toBe("completed");
    // By a goto over it, and by a run list.
    expect([build.heard, note.heard]).toEqual([
      [null, TOLD, null],
      [null, TOLD, null],
    ]);
  });

  it("is gone when a person acts on the job again without one", async () => {
    const fix = listener(["fail"]);
    const stage = await Stage.begin("steps: { fix: { exec: make } }", { fix: fix.script });
    await stage.rest();
    const job = await stage.id("fix");
    await stage.operate({ type: "step.retry", job, ...BY });
    await (await stage.resume()).rest();
    await stage.operate({ type: "step.retry", job });
    await (await stage.resume()).rest();
    expect(fix.heard).toEqual([null, TOLD, null]);
  });

  it("belongs to one job: what waits for it again hears nothing", async () => {
    const test = listener(["ok"]);
    const fix = listener(["fail", "ok"]);
    const stage = await Stage.begin("steps: { fix: { exec: make }, test: { exec: make, depends_on: fix } }", {
      fix: fix.script,
      test: test.script,
    });
    await stage.rest();
    await stage.operate({ type: "step.retry", job: await stage.id("fix"), ...BY });
    await (await stage.resume()).rest();
    expect([fix.heard, test.heard]).toEqual([[null, TOLD], [null]]);
  });

  it("of resume_from is for the step that the run goes back to", async () => {
    const fix = listener(["ok"]);
    const test = listener(["ok"]);
    const stage = await Stage.begin("steps: { fix: { exec: make }, test: { exec: make, depends_on: fix } }", {
      fix: fix.script,
      test: test.script,
    });
    await stage.rest();
    await stage.operate({ type: "step.resume_from", job: await stage.id("fix"), ...BY });
    const run = await (await stage.resume()).rest();
    expect([fix.heard, test.heard]).toEqual([
      [null, TOLD],
      [null, null],
    ]);
    expect(run.events("operator.goto")).toMatchObject([{ to: "fix", hint: HINT, by: "ann" }]);
  });

  it("of a forced retry goes back with it", async () => {
    const fix = listener(["ok"]);
    const stage = await Stage.begin("steps: { fix: { exec: make } }", { fix: fix.script });
    await stage.rest();
    await stage.operate({ type: "step.retry", job: await stage.id("fix"), force: true, ...BY });
    await (await stage.resume()).rest();
    expect(fix.heard).toEqual([null, TOLD]);
  });

  it("of a reset is for each of the failed jobs", async () => {
    const a = listener(["fail", "ok"]);
    const b = listener(["fail", "ok"]);
    const fine = listener(["ok"]);
    const stage = await Stage.begin("steps: { a: { exec: make }, b: { exec: make }, fine: { exec: make } }", {
      a: a.script,
      b: b.script,
      fine: fine.script,
    });
    await stage.rest();
    await stage.operate({ type: "run.reset", ...BY });
    await (await stage.resume()).rest();
    expect([a.heard, b.heard, fine.heard]).toEqual([[null, TOLD], [null, TOLD], [null]]);
  });

  it("of a hold that is retried is for that job alone", async () => {
    const a = listener(["fail", "ok"]);
    const b = listener(["fail", "ok"]);
    const stage = await Stage.begin("unhandled: hold\nsteps: { a: { exec: make }, b: { exec: make } }", {
      a: a.script,
      b: b.script,
    });
    await stage.rest();
    const decision = { action: "retry", output: null, items: null } as const;
    await stage.operate({
      type: "holds.resolve",
      by: "ann",
      items: [
        { job: await stage.id("a"), ...decision, hint: HINT },
        { job: await stage.id("b"), ...decision },
      ],
    });
    await (await stage.resume()).rest();
    expect([a.heard, b.heard]).toEqual([
      [null, TOLD],
      [null, null],
    ]);
  });

  it("of a hard reset and of a redrive is told in the fresh workspace", async () => {
    const fix = listener(["fail", "fail", "ok"]);
    const stage = await Stage.begin(
      `workspace: {}
queue: { max_attempts: 1, classes: [application] }
steps: { fix: { exec: make } }`,
      { fix: fix.script },
    );
    await stage.rest();
    const job = await stage.id("fix");
    await stage.operate({ type: "step.hard_reset", job, ...BY });
    await (await stage.resume()).rest();
    await stage.operate({ type: "step.redrive", job, ...BY });
    const run = await (await stage.resume()).rest();
    expect(fix.heard).toEqual([null, TOLD, TOLD]);
    expect(run.events("reset.reserved").map(({ hint }) => hint)).toEqual([HINT, HINT]);
  });

  it("of a takeover is for the named step's next attempts, and refused for one that is over", async () => {
    const fix = listener(["fail", "ok"]);
    const stage = await Stage.begin(
      `steps:
  first: { exec: make }
  fix: { exec: make, depends_on: first, on_fail: { retry: { max: 1, backoff: { delay_ms: 100 } } } }`,
      { fix: fix.script },
    );
    const first = await stage.id("first");
    const refused = await stage.operate({ type: "run.pause", takeover: true, job: first, ...BY });
    expect(refused).toBe("HINT_REFUSED");
    await stage.operate({ type: "run.pause", takeover: true, job: await stage.id("fix"), ...BY });
    await stage.operate({ type: "run.unpause" });
    const run = await (await stage.resume()).rest();
    expect(fix.heard).toEqual([null, TOLD]);
    expect(run.events("run.paused")).toMatchObject([{ takeover: true, hint: HINT }]);
    const { lines } = explain({ runId: stage.runId, definition: stage.live!.definition, log: run.log });
    expect(lines.join("\n")).toContain(`It was given a hint: "${HINT}".`);
    expect(lines.join("\n")).not.toContain("No attempt began");
  });

  it("that no attempt has heard is told so when its step settles", async () => {
    const text = `unhandled: hold
steps:
  fix: { exec: make }
  done: { exec: make }`;
    const fix = listener(["fail"]);
    const stage = await Stage.begin(text, { fix: fix.script, done: [{ output: null, takesMs: 1_000 }] });
    const takeOver = async (step: string) =>
      stage.operate({ type: "run.pause", takeover: true, job: await stage.id(step), ...BY });
    await takeOver("fix");
    await takeOver("done");
    const job = await stage.id("fix");
    await stage.operate({
      type: "holds.resolve",
      items: [{ job, action: "complete", output: null, items: null }],
    });
    await stage.operate({ type: "run.unpause" });
    const { run, log } = await stage.rest();
    expect([run.status, fix.heard]).toEqual(["completed", [null]]);
    const { definition } = workflow(text);
    const { lines } = explain({ runId: stage.runId, definition, log });
    const said = (start: string) => lines.filter((line) => line.startsWith(`  ${start}`));
    expect(said("It was given a hint")).toEqual(Array(2).fill(`  It was given a hint: "${HINT}".`));
    expect(said("No attempt began")).toEqual(
      Array(2).fill(`  No attempt began after the hint "${HINT}" was given: nobody has used it.`),
    );
  });

  it("is `failure.hint` in templates", async () => {
    const seen: unknown[] = [];
    const stage = await Stage.begin(
      `steps: { fix: { exec: "{% if failure %}{{ failure.hint }}{% endif %}" } }`,
      {
        fix: ({ action }, nth) => {
          seen.push(action.exec);
          return nth === 1 ? "fail" : "ok";
        },
      },
    );
    await stage.rest();
    await stage.operate({ type: "step.retry", job: await stage.id("fix"), ...BY });
    await (await stage.resume()).rest();
    expect(seen).toEqual(["", HINT]);
  });
});
