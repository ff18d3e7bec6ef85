import { describe, expect, it } from "vitest";
import { endingOf } from "../support/ending-text.js";
import type { Script } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";

const TEXT = `
finally: [sweep, tell]
steps:
  a: { exec: x }
  sweep: { exec: x, on_fail: { retry: { max: 1 } } }
  tell: { exec: x }
`;

/** What each attempt of the steps that run at the end was told of how the run ends. */
function listener(outcomes: Script) {
  const heard: string[] = [];
  const told =
    (name: string): Script[string] =>
    ({ runEnd, env }, nth) => {
      const { status, error } = runEnd!;
      heard.push(`${name}: ${env.SAYS}; ${status} ${error?.code ?? "-"} ${error?.message ?? "-"}`);
      const mine = outcomes[name] ?? ["ok"];
      return Array.isArray(mine) ? mine[Math.min(nth, mine.length) - 1]! : "ok";
    };
  return { heard, script: { ...outcomes, sweep: told("sweep"), tell: told("tell"), back: told("back") } };
}

describe("how the run ends", () => {
  const SAYS =
    'env: { SAYS: "{% if run %}{{ run.status }} {{ run.error.code | default: 0 }}{% else %}nothing{% endif %}" }';
  const text = `${SAYS}
finally: [sweep, tell]
steps:
  first: { exec: x, undo: back }
  a: { exec: "{{ run }}", depends_on: first }
  back: { exec: x }
  sweep: { exec: x }
  tell: { exec: x, if: "run.status != 'canceled'" }
`;

  it("is `run` for undo and finally steps, and null for any other", { tags: ["U4"] }, async () => {
    const { heard, script } = listener({ a: [{ exit: 7 }] });
    const stage = await Stage.begin(text, script);
    expect((await stage.rest()).run.status).toBe("failed");
    const end = "failed EXIT_7; failed EXIT_7 a: exit code 7";
    expect(heard).toEqual([`back: ${end}`, `sweep: ${end}`, `tell: ${end}`]);
    const other = await Stage.begin("steps: { a: { exec: x, if: 'run === null' } }");
    expect((await other.rest()).order).toEqual(["a"]);
  });

  it("is completed, and failed after a finally step that failed", async () => {
    const { heard, script } = listener({ sweep: [{ exit: 3 }] });
    await (await Stage.begin(text, script)).rest();
    expect(heard).toEqual([
      "sweep: completed 0; completed - -",
      "tell: failed EXIT_3; failed EXIT_3 sweep: exit code 3",
    ]);
  });

  it("is canceled, with the reason, which an `if` can ask for", async () => {
    const { heard, script } = listener({ a: [{ output: null, takesMs: 1_000_000 }] });
    const stage = await Stage.begin(text, script);
    await stage.operate({ type: "run.cancel" });
    const { run, order } = await stage.rest();
    expect([run.status, order]).toEqual(["canceled", ["first", "a", "back", "sweep"]]);
    const end = "canceled RUN_CANCELED; canceled RUN_CANCELED because";
    expect(heard).toEqual([`back: ${end}`, `sweep: ${end}`]);
  });
});

describe("finally", () => {
  it("runs in order after completion", { tags: ["U4"] }, async () => {
    const stage = await Stage.begin(TEXT);
    const { run, order } = await stage.rest();
    expect([run.status, order]).toEqual(["completed", ["a", "sweep", "tell"]]);
    expect(await endingOf(stage)).toEqual([
      "run.ending completed",
      "finally.entered sweep 1",
      "finally.entered tell 1",
      "run.completed",
    ]);
  });

  it("runs after failure, and the run fails of what it failed of", { tags: ["U4"] }, async () => {
    const stage = await Stage.begin(TEXT, { a: [{ exit: 7 }], tell: ["fail"] });
    const { run, order, events } = await stage.rest();
    expect([run.status, run.error?.code, order]).toEqual(["failed", "EXIT_7", ["a", "sweep", "tell"]]);
    expect(events("run.failed")[0]!.unhandled).toEqual([await stage.id("a"), await stage.id("tell")]);
  });

  it("goes on after a failed one, which makes a completed run failed, and is never held", {
    tags: ["U4"],
  }, async () => {
    const stage = await Stage.begin(`unhandled: hold\n${TEXT}`, { sweep: [{ exit: 3 }] });
    const { run, order, events } = await stage.rest();
    expect([run.status, run.error?.code, run.error?.step_id]).toEqual(["failed", "EXIT_3", "sweep"]);
    expect(order).toEqual(["a", "sweep", "sweep", "tell"]);
    expect(events("ladder.climbed").map(({ rung }) => rung)).toEqual(["retry", "fail"]);
    expect(
      events("ladder.climbed")
        .at(-1)!
        .considered.find(({ rung }) => rung === "hold"),
    ).toMatchObject({
      applied: false,
      kind: "ends_run",
    });
  });

  it("tolerates one that may fail", async () => {
    const text = TEXT.replace("tell: { exec: x }", "tell: { exec: x, continue_on_failure: true }");
    const stage = await Stage.begin(text, { tell: ["fail"] });
    expect((await stage.rest()).run.status).toBe("completed");
  });

  it("skips one whose `if` is false", async () => {
    const text = TEXT.replace("tell: { exec: x }", "tell: { exec: x, if: 'false' }");
    const stage = await Stage.begin(text);
    const { run, order } = await stage.rest();
    expect([run.status, order, await stage.statuses("tell")]).toEqual([
      "completed",
      ["a", "sweep"],
      ["skipped"],
    ]);
  });

  it("begins only when nothing else is at work or held", async () => {
    const text = TEXT.replace("a: { exec: x }", "a: { exec: x }\n  b: { exec: x }").replace(
      "steps:",
      "unhandled: hold\nsteps:",
    );
    const stage = await Stage.begin(text, { a: ["fail"], b: [{ output: 1, takesMs: 100 }] });
    expect((await stage.rest()).run.status).toBe("held");
    expect(stage.worker.order).toEqual(["a", "b"]);
    const item = { job: await stage.id("a"), action: "fail", output: null, items: null } as const;
    await stage.operate({ type: "holds.resolve", items: [item] });
    await stage.resume();
    expect((await stage.rest()).order).toEqual(["a", "b", "sweep", "tell"]);
  });

  it("goes on after a crash at the recorded visit, whatever was lost", { tags: ["U4"] }, async () => {
    const stage = await Stage.begin(TEXT, { sweep: [{ output: 1, takesMs: 100 }] });
    await stage.turn(0);
    stage.kill();
    await stage.resume();
    const { run, order } = await stage.rest();
    expect([run.status, order]).toEqual(["completed", ["a", "sweep", "sweep", "tell"]]);
    expect(await endingOf(stage)).toEqual([
      "run.ending completed",
      "finally.entered sweep 1",
      "finally.entered tell 1",
      "run.completed",
    ]);
  });

  it("fails, and the next goes on, where it is lost too often", async () => {
    const text = `max_recoveries: 0\n${TEXT.replace(/, on_fail: .*$/m, " }")}`;
    const stage = await Stage.begin(text, { sweep: [{ output: 1, takesMs: 100 }] });
    await stage.turn(0);
    stage.kill();
    await stage.resume();
    const { run, order } = await stage.rest();
    expect([run.status, order]).toEqual(["failed", ["a", "sweep", "tell"]]);
  });

  it("runs again when a reopened run ends, with a new visit and fresh budgets", {
    tags: ["U4"],
  }, async () => {
    const stage = await Stage.begin(TEXT, { a: ["fail", "ok"], sweep: ["fail", "ok", "fail", "ok"] });
    expect((await stage.rest()).run.status).toBe("failed");
    expect(await stage.operate({ type: "step.retry", job: await stage.id("a") })).toBeNull();
    await stage.resume();
    const { run, order } = await stage.rest();
    expect([run.status, order]).toEqual([
      "completed",
      ["a", "sweep", "sweep", "tell", "a", "sweep", "sweep", "tell"],
    ]);
    expect((await endingOf(stage)).slice(4)).toEqual([
      "run.reopened",
      "run.ending completed",
      "finally.entered sweep 2",
      "finally.entered tell 2",
      "run.completed",
    ]);
  });

  it.each(["step.retry", "run.reset"] as const)(
    "that failed runs again with all of them when somebody wants that (%s)",
    async (type) => {
      const stage = await Stage.begin(TEXT, { tell: ["fail", "ok"] });
      expect((await stage.rest()).run.status).toBe("failed");
      const job = await stage.id("tell");
      expect(await stage.operate(type === "run.reset" ? { type } : { type, job })).toBeNull();
      await stage.resume();
      const { run, order } = await stage.rest();
      expect([run.status, order]).toEqual(["completed", ["a", "sweep", "tell", "sweep", "tell"]]);
    },
  );
});
