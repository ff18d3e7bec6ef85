import { describe, expect, it } from "vitest";
import type { Trial } from "../support/harness.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const BOUNDED = `unhandled: hold
steps:
  setup: { exec: make }
  test: { exec: make, depends_on: setup, on_fail: { goto: { step: setup, max: 1 } } }
  after: { exec: make, depends_on: test }`;

const rungsOf = (run: Trial): string[] => run.events("ladder.climbed").map(({ rung }) => rung);

type Wish = Parameters<Stage["operate"]>[0];
const resumeFrom = (job: number): Wish => ({ type: "step.resume_from", job, force: false });
const retried = (job: number) => ({ job, action: "retry" as const, output: null, items: null });

describe("gotos that are counted", () => {
  it("are still counted after a crash", async () => {
    const stage = await Stage.begin(BOUNDED, {
      setup: ["ok", { output: null, takesMs: 10 }],
      test: ["fail"],
    });
    expect((await stage.view()).order).toEqual(["setup", "test", "setup"]);
    stage.kill();
    const run = await (await stage.resume()).rest();
    expect(trace(run).slice(8)).toEqual([
      "fail setup WORKER_LOST",
      "climb setup restart",
      "restart setup 1/5",
      "start setup",
      "ok setup",
      "start test",
      "fail test EXIT_1",
      "climb test hold",
      "held test EXIT_1",
      "run held",
    ]);
  });

  it.each<[string, "hold" | "fail", string, (job: number) => Wish]>([
    ["resolve retry", "hold", "test", (job) => ({ type: "holds.resolve", items: [retried(job)] })],
    ["retry_step", "fail", "test", (job) => ({ type: "step.retry", job })],
    ["reset --failed-only", "fail", "test", () => ({ type: "run.reset" })],
    ["resume_from an earlier step", "fail", "setup", (job) => resumeFrom(job)],
    ["resume_from the step itself", "fail", "test", (job) => resumeFrom(job)],
    ["resume_from in a held run", "hold", "setup", (job) => resumeFrom(job)],
  ])("begin anew with %s", async (_, unhandled, step, wish) => {
    const stage = await Stage.begin(BOUNDED.replace("hold", unhandled), { test: ["fail"] });
    expect(rungsOf(await stage.rest())).toEqual(["goto", unhandled]);
    const refused = await stage.operate(wish(await stage.id(step)));
    expect(refused).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(rungsOf(run)).toEqual(["goto", unhandled, "goto", unhandled]);
    expect(run.events("goto.taken").map(({ goto, max, loop }) => [goto, max, loop])).toEqual([
      [1, 1, 1],
      [1, 1, 2],
    ]);
  });

  it("begin anew with redrive of a dead letter and with hard_reset_step", async () => {
    const trials: [string, (job: number) => Wish][] = [
      ["queue: { max_attempts: 1, classes: [application] }", (job) => ({ type: "step.redrive", job })],
      ['workspace: { repo: "." }', (job) => ({ type: "step.hard_reset", job, force: false })],
    ];
    for (const [keys, wish] of trials) {
      const stage = await Stage.begin(`${keys}\n${BOUNDED.replace("hold", "fail")}`, { test: ["fail"] });
      expect(rungsOf(await stage.rest())).toEqual(["goto", "fail"]);
      expect(await stage.operate(wish(await stage.id("test")))).toBeNull();
      expect(rungsOf(await (await stage.resume()).rest())).toEqual(["goto", "fail", "goto", "fail"]);
    }
  });

  it("begin anew only for the steps that resume_from begins again", async () => {
    const stage = await Stage.begin(
      `steps:
  setup: { exec: make }
  test: { exec: make, depends_on: setup, on_fail: { goto: { step: setup, max: 1 } } }
  other: { exec: make, depends_on: setup, on_fail: { goto: { step: setup, max: 1 } } }`,
      { test: ["fail", "fail", "fail"], other: ["fail", "fail", "fail"] },
      { capacity: 1 },
    );
    // test goes back first; in the new visit it fails for good, then other goes back and test fails once more.
    await stage.rest();
    await stage.operate(resumeFrom(await stage.id("other")));
    const run = await (await stage.resume()).rest();
    const gotos = run
      .events("goto.taken")
      .map(({ job, goto }) => [run.jobs.find(({ id }) => id === job)!.step, goto]);
    expect(gotos).toEqual([
      ["test", 1],
      ["other", 1],
      ["other", 1],
    ]);
    expect(run.events("operator.goto")).toMatchObject([{ jobs: [run.job("other").id] }]);
    expect(run.job("test").status).toBe("failed");
  });
});
