import { describe, expect, it } from "vitest";
import type { EvaluationResult } from "../../src/core/model/events.js";
import type { Rendering } from "../../src/run/sandbox/render-step.js";
import type { Sandbox } from "../../src/run/sandbox/sandbox.js";
import { plainSandbox } from "../support/plain-sandbox.js";
import { Stage } from "../support/stage.js";

/** A sandbox whose renderings wait until `go` is called. */
function waiting() {
  const asked: Rendering[] = [];
  const due: (() => void)[] = [];
  const sandbox: Sandbox = {
    ...plainSandbox,
    render: (rendering, signal) => {
      asked.push(rendering);
      return new Promise((resolve) => {
        const stopped: EvaluationResult = {
          ok: false,
          code: "EXPRESSION_STOPPED",
          reason: "it was stopped",
          duration_ms: 0,
        };
        signal?.addEventListener("abort", () => resolve(stopped));
        due.push(() => void plainSandbox.render(rendering).then(resolve));
      });
    },
  };
  const go = (): void => {
    for (const one of due.splice(0)) one();
  };
  /** The process is gone, and its threads with it. */
  const forget = (): void => {
    due.length = 0;
  };
  return { sandbox, asked, go, forget };
}

const TAGS = "{% for i in (1..3) %}{{ i }}{% endfor %}";
const TWO = `steps:
  heavy: { exec: "${TAGS}" }
  light: { exec: "{{ step.id | sh }}" }
  after: { exec: make, depends_on: [heavy] }`;

describe("a step with templates that do more than print variables", () => {
  it("is rendered by the sandbox, and nobody waits for it but its dependents", async () => {
    const { sandbox, asked, go } = waiting();
    const stage = await Stage.begin(TWO, {}, { sandbox });
    await stage.turn();
    expect(asked).toHaveLength(1);
    expect(await stage.statuses("heavy", "light", "after")).toEqual(["running", "completed", "blocked"]);
    expect(stage.worker.order).toEqual(["light"]);
    go();
    const run = await stage.rest();
    expect(run.order).toEqual(["light", "heavy", "after"]);
    expect(run.run.status).toBe("completed");
  });

  it("can be stopped meanwhile: it never begins", async () => {
    const { sandbox } = waiting();
    const stage = await Stage.begin(TWO, {}, { sandbox });
    await stage.turn();
    expect(await stage.operate({ type: "run.cancel" })).toBeNull();
    const run = await stage.rest();
    expect([run.run.status, run.job("heavy").status]).toEqual(["canceled", "canceled"]);
    expect(run.order).toEqual(["light"]);
  });

  it("is rendered again by the engine that takes the run up after a crash", async () => {
    const { sandbox, asked, go, forget } = waiting();
    const stage = await Stage.begin(TWO, {}, { sandbox });
    await stage.turn();
    stage.kill();
    forget();
    await stage.resume();
    expect(asked).toHaveLength(2);
    go();
    const run = await stage.rest();
    expect(run.run.status).toBe("completed");
    expect(run.order).toEqual(["light", "heavy", "after"]);
  });

  it("fails with TEMPLATE_ERROR where the sandbox refuses, and climbs the ladder", async () => {
    const { sandbox, go } = waiting();
    const text = `steps:
  heavy: { exec: "{% for i in (1..99999999) %}x{% endfor %}", on_fail: { run: [mend] }, continue_on_failure: true }
  mend: { exec: make }
  other: { exec: make }`;
    const stage = await Stage.begin(text, {}, { sandbox });
    await stage.turn();
    go();
    await stage.turn(2);
    go();
    const run = await stage.rest();
    expect(run.events("attempt.failed").map(({ error }) => error.code)).toEqual([
      "TEMPLATE_ERROR",
      "TEMPLATE_ERROR",
    ]);
    expect(run.job("other").status).toBe("completed");
  });
});

describe("a human step whose prompt does more than print variables", () => {
  it("is asked once the sandbox has rendered it, once", async () => {
    const { sandbox, asked, go } = waiting();
    const stage = await Stage.begin(
      `steps:\n  gate: { type: human, prompt: "${TAGS}?" }\n  other: { exec: make }`,
      {},
      { sandbox },
    );
    await stage.turn();
    expect(await stage.statuses("gate", "other")).toEqual(["ready", "completed"]);
    expect(asked).toHaveLength(1);
    go();
    await stage.turn(0);
    expect(await stage.statuses("gate")).toEqual(["waiting"]);
    expect((await stage.view()).events("human.asked")).toMatchObject([{ prompt: "123?" }]);
  });
});
