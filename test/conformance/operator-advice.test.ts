import { describe, expect, it } from "vitest";
import { adviceFor } from "../../src/core/errors/errors.js";
import type { OperatorCommand } from "../../src/core/model/commands.js";
import { Stage } from "../support/stage.js";

/** The whole advice of a refusal, in the words of a program and of a command line. */
async function advised(stage: Stage, command: Parameters<Stage["take"]>[0]): Promise<string> {
  const { refusal } = await stage.take(command);
  if (refusal === null) return "not refused";
  const { typed, asked } = refusal.hint ?? adviceFor(refusal.code);
  return `${refusal.code} | ${asked} | ${typed}`;
}

const WORKSPACE = `workspace: {}\nsteps: { plan: { exec: plan }, edit: { exec: edit, depends_on: plan } }`;
type StepCommand = Extract<OperatorCommand["type"], "step.retry" | "step.hard_reset">;

describe("what a refusal advises is not refused in its turn", () => {
  it.each<[StepCommand, boolean]>([
    ["step.retry", false],
    ["step.hard_reset", false],
    ["step.hard_reset", true],
  ])(
    "%s of a completed step (force: %s) names resume_from_step, which goes back to it",
    async (type, force) => {
      const stage = await Stage.begin(WORKSPACE, { edit: ["fail"] });
      await stage.rest();
      const job = await stage.id("plan");
      expect(await advised(stage, { type, job, ...(force ? { force } : {}) })).toMatch(
        /^STEP_COMPLETED \| control_run with action resume_from_step .* \| `daruma resume-from 1 plan` /,
      );
      expect(await stage.operate({ type: "step.resume_from", job })).toBeNull();
    },
  );

  it("retry of a skipped step goes to it, or to what it depends on where that did not complete", async () => {
    const stage = await Stage.begin(
      `steps:
  a: { exec: make, if: "false" }
  b: { exec: make, depends_on: a }
  c: { exec: make }`,
      {},
    );
    await stage.rest();
    const [a, b] = [await stage.id("a"), await stage.id("b")];
    expect(await advised(stage, { type: "step.retry", job: b })).toMatch(
      /Go back to the step it depends on, which did not complete: control_run with action resume_from_step/,
    );
    expect(await stage.operate({ type: "step.resume_from", job: b })).toBe("DEPENDENCY_FAILED");
    expect(await advised(stage, { type: "step.retry", job: a })).toMatch(/resume_from_step goes back to it/);
    expect(await stage.operate({ type: "step.resume_from", job: a })).toBeNull();
  });

  it("retry of a step whose dependency failed names reset_failed, which takes both", async () => {
    const stage = await Stage.begin(`steps: { a: { exec: make }, b: { exec: make, depends_on: a } }`, {
      a: ["fail", "ok"],
    });
    await stage.rest();
    expect(await advised(stage, { type: "step.retry", job: await stage.id("b") })).toMatch(
      /^DEPENDENCY_FAILED \| .*action reset_failed .* \| .*daruma reset 1`/,
    );
    expect(await stage.operate({ type: "run.reset" })).toBeNull();
    expect((await (await stage.resume()).rest()).order).toEqual(["a", "a", "b"]);
  });

  it("retry of a completed step with a hint names the command that takes it, and what becomes of the files", async () => {
    const stage = await Stage.begin(WORKSPACE, {});
    await stage.rest();
    const job = await stage.id("plan");
    const files = (keep: string) => `Its files go back to the state before it; with ${keep} they stay\\.`;
    const advice = await advised(stage, { type: "step.retry", job, hint: "leave the parser alone" });
    expect(advice).toContain('| `daruma resume-from 1 plan --hint "..."` goes back to it:');
    expect(advice.split(" | ").slice(1)).toEqual([
      expect.stringMatching(new RegExp(`It takes the hint\\. ${files("files: keep")}$`)),
      expect.stringMatching(new RegExp(`run again\\. ${files("--files keep")}$`)),
    ]);
    expect(await advised(stage, { type: "step.retry", job })).not.toContain("hint");
    expect(await stage.operate({ type: "step.resume_from", job, hint: "leave the parser alone" })).toBeNull();
  });

  it("hard_reset of a step that is about to run names pause, after which it is taken", async () => {
    const stage = await Stage.begin(WORKSPACE, { plan: [{ output: null, takesMs: 100 }] }, { capacity: 0 });
    const job = await stage.id("plan");
    expect(await advised(stage, { type: "step.hard_reset", job })).toMatch(
      /^NOT_RETRYABLE \| Pause the run first: control_run with action pause\. \| .*`daruma pause 1`/,
    );
    expect(await stage.operate({ type: "run.pause", takeover: false })).toBeNull();
    expect(await stage.operate({ type: "step.hard_reset", job })).toBeNull();
  });

  it("hard_reset of a canceled step names retry_step, which runs it", async () => {
    const stage = await Stage.begin(WORKSPACE, { plan: [{ output: null, takesMs: 100 }] });
    await stage.operate({ type: "run.cancel" });
    await stage.rest();
    const job = await stage.id("plan");
    expect(await advised(stage, { type: "step.hard_reset", job })).toMatch(/action retry_step runs it again/);
    expect(await stage.operate({ type: "step.retry", job })).toBeNull();
  });

  it("a busy workspace names force, as its interface calls it", async () => {
    const stage = await Stage.begin(WORKSPACE, { plan: [{ output: null, takesMs: 100 }] });
    const job = await stage.id("plan");
    expect(await advised(stage, { type: "step.hard_reset", job })).toBe(
      "WORKSPACE_BUSY | Wait until it ends, or end it with force: true. | Wait until it ends, or end it with --force.",
    );
    expect(await stage.operate({ type: "step.hard_reset", job, force: true })).toBeNull();
  });

  it("a run that is being canceled says to wait, and what can be done then", async () => {
    const stage = await Stage.begin(`steps: { a: { exec: make } }`, { a: [{ output: null, takesMs: 100 }] });
    const job = await stage.id("a");
    // Its process takes its time to end.
    stage.worker.deaf = true;
    await stage.operate({ type: "run.cancel" });
    for (const type of ["step.retry", "step.resume_from", "run.reset", "run.pause"] as const)
      expect(await advised(stage, { type, job, takeover: false } as never)).toMatch(
        /^RUN_OVER \| Wait until its processes have ended; then retry a step\./,
      );
    await stage.rest();
    expect(await stage.operate({ type: "step.retry", job })).toBeNull();
  });
});
