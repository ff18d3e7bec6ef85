import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import { checkpointed } from "../support/scripted-worker.js";
import { trace } from "../support/trace.js";

const HEAL = "workspace: { repo: . }\nself_heal: true";
const QUEUE = "queue: { max_attempts: 3 }";
const file = (steps: string, ...keys: string[]): string =>
  `name: heal\n${keys.join("\n")}\nsteps:\n${steps}\n`;
const TWO = "  plan: { exec: plan }\n  edit: { exec: edit, depends_on: [plan] }";
const same = { exit: 1, stderr: "the test fails", diffHash: "d1" };

describe("soft reset", () => {
  it("runs a failing step again in the same workspace, and builds no fresh one", {
    tags: ["M13", "M19"],
  }, async () => {
    const run = await trial(file(TWO, HEAL), {
      plan: [checkpointed("plan")],
      edit: [{ facts: { timeout: "wall", message: "too slow", diffHash: "d1" } }, checkpointed("edit")],
    });
    expect(trace(run)).toEqual([
      "start plan",
      "ok plan",
      "start edit",
      "fail edit TIMEOUT",
      "climb edit retry",
      "retry edit 1/2 +0",
      "start edit",
      "ok edit",
      "run completed",
    ]);
  });

  it("goes on with soft resets while the diff changes although the failure stays the same", async () => {
    const run = await trial(file(TWO, HEAL), {
      edit: [{ ...same, diffHash: "d1" }, { ...same, diffHash: "d2" }, checkpointed("edit")],
    });
    expect(run.order).toEqual(["plan", "edit", "edit", "edit"]);
    expect(run.events("reset.reserved")).toEqual([]);
    expect(run.run.status).toBe("completed");
  });
});

describe("no progress", () => {
  it("resets hard after two failures that say and leave the same, and the pointer moves when that works", {
    tags: ["M7", "M19", "M37"],
  }, async () => {
    const run = await trial(file(TWO, HEAL), {
      plan: [checkpointed("plan")],
      edit: [same, same, checkpointed("edit")],
    });
    expect(trace(run)).toEqual([
      "start plan",
      "ok plan",
      "start edit",
      "fail edit EXIT_1",
      "climb edit retry",
      "retry edit 1/2 +0",
      "start edit",
      "fail edit EXIT_1",
      "climb edit reset",
      "reset edit for no_progress 1/1",
      "rebuild 1 for edit from [1]",
      "rebuilt 1 ok",
      "start edit",
      "ok edit",
      "promoted 1",
      "run completed",
    ]);
    const [first, second] = run.events("attempt.failed");
    expect(first).toMatchObject({ no_progress: null, error: { class: "application", original_class: null } });
    expect(second).toMatchObject({
      no_progress: { streak: 2, limit: 2, oscillation: false },
      error: { class: "stuck_no_progress", original_class: "application", diff_hash: "d1" },
    });
    expect(run.events("attempt.succeeded").map(({ checkpoint }) => checkpoint?.ordinal)).toEqual([1, 2]);
    expect(run.routes.map(({ rung }) => rung)).toEqual(["retry", "reset"]);
  });

  it("counts an attempt that has left nothing although the one before it had", { tags: ["M7"] }, async () => {
    const run = await trial(file(TWO, HEAL), {
      edit: [same, { exit: 1, stderr: "the test fails" }, "ok"],
    });
    expect(
      run.events("attempt.failed").map(({ no_progress: noProgress }) => noProgress?.streak ?? null),
    ).toEqual([null, 2]);
  });

  it("is not what fewer problems of the same kind are, although the book has them as one failure", async () => {
    const left = (problems: number) => ({ exit: 1, stderr: `${problems} problems left`, diffHash: "d1" });
    const run = await trial(file(TWO, "workspace: {}", "self_heal: { step_max_attempts: 5 }"), {
      edit: [left(8), left(5), left(3), left(3), "ok"],
    });
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual([
      ...["retry", "retry", "retry", "reset"],
    ]);
    expect(new Set(run.events("attempt.failed").map(({ error }) => error.signature)).size).toBe(1);
  });

  it("notices two failures that take turns", async () => {
    const other = { exit: 2, stderr: "the build fails", diffHash: "d2" };
    const run = await trial(
      file(TWO, "workspace: {}", "self_heal: { step_max_attempts: 6, step_no_progress_limit: 3 }"),
      { edit: [same, other, same, other, "ok"] },
    );
    expect(run.order).toEqual(["plan", "edit", "edit", "edit", "edit", "edit"]);
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual([
      "retry",
      "retry",
      "retry",
      "reset",
    ]);
    expect(run.events("attempt.failed").at(-1)?.no_progress).toEqual({
      streak: 1,
      limit: 3,
      oscillation: true,
    });
  });

  it.each([
    ["503", { httpStatus: 503, message: "unavailable" }],
    ["529", { httpStatus: 529, message: "overloaded" }],
    ["429", { httpStatus: 429, message: "slow down" }],
    ["a network error", { errno: "ECONNRESET", message: "reset by peer" }],
  ])("never counts %s", async (_, facts) => {
    const run = await trial(file(TWO, "workspace: {}", "self_heal: { step_max_attempts: 4 }"), {
      edit: [{ facts }, { facts }, { facts }, "ok"],
    });
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual(["retry", "retry", "retry"]);
    expect(run.events("attempt.failed").map(({ error }) => error.class)).toEqual(
      Array.from({ length: 3 }, () => "transient_runtime"),
    );
  });

  it("does not let an outage end a streak", async () => {
    const outage = { facts: { httpStatus: 503, message: "unavailable" } };
    const run = await trial(file(TWO, "workspace: {}", "self_heal: { step_max_attempts: 5 }"), {
      edit: [same, outage, same, "ok"],
    });
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual(["retry", "retry", "reset"]);
  });

  it("never makes a retry of a deterministic failure, whatever the limit", {
    tags: ["M8", "M19"],
  }, async () => {
    const invalid = { facts: { httpStatus: 422, message: "invalid" } };
    const run = await trial(file(TWO, "workspace: {}", "self_heal: { step_no_progress_limit: 1 }", QUEUE), {
      edit: [invalid],
    });
    expect(run.order).toEqual(["plan", "edit"]);
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual(["fail"]);
    expect(run.events("attempt.failed")[0]).toMatchObject({
      no_progress: null,
      error: { class: "deterministic_contract" },
    });
    expect(run.run.status).toBe("failed");
  });

  it("ends the retries of a step without workspace, which then climbs on", async () => {
    const run = await trial(
      file(
        "  ask: { type: llm_call, provider: openai, model: m, prompt: p, on_fail: { run: [fix] } }\n  fix: { type: noop }",
        HEAL,
      ),
      { ask: [{ exit: 1 }, { exit: 1 }, "ok"] },
    );
    expect(run.order).toEqual(["ask", "ask", "fix", "ask"]);
    const considered = run.events("ladder.climbed").at(-1)!.considered.slice(-3);
    expect(considered.map(({ rung, reason }) => [rung, reason])).toEqual([
      ["retry", "no progress: the same failure 2 times, with the same changes or none"],
      ["reset", "the step does not work in a workspace"],
      ["remediate", "run fix, then try again"],
    ]);
  });

  it("is not looked for in steps that self-heal does not watch", async () => {
    const run = await trial(
      file("  a: { exec: x, workspace: false, on_fail: { retry: { max: 4 } } }", HEAL),
      {
        a: [same],
      },
    );
    expect(run.order).toEqual(["a", "a", "a", "a", "a"]);
    expect(run.events("attempt.failed").map(({ error }) => error.class)).not.toContain("stuck_no_progress");
  });
});

describe("attempt budget enforcement", () => {
  it("takes no more attempts than step_max_attempts, though a hard reset is left", {
    tags: ["M1", "M12", "M19", "M37"],
  }, async () => {
    const run = await trial(
      file(TWO, "workspace: {}", "self_heal: { step_max_attempts: 3, job_self_heal_max_resets: 5 }"),
      { edit: [same] },
    );
    expect(run.order).toEqual(["plan", "edit", "edit", "edit"]);
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual(["retry", "reset", "fail"]);
    expect(run.events("attempt.failed").at(-1)?.no_progress).not.toBeNull();
    const last = run.events("ladder.climbed").at(-1)!.considered;
    expect(last.find(({ rung }) => rung === "reset")?.reason).toBe("no attempts left (3 used)");
  });

  it("counts a hard reset among the attempts of step_max_attempts", async () => {
    const run = await trial(file(TWO, HEAL), {
      edit: [same, same, { exit: 2, stderr: "something new" }, "ok"],
    });
    expect(run.order).toEqual(["plan", "edit", "edit", "edit"]);
    expect(trace(run).slice(-5)).toEqual([
      "fail edit EXIT_2",
      "climb edit fail",
      "failed edit EXIT_2",
      "discarded 1",
      "run failed EXIT_2",
    ]);
  });

  it("resets no more often than job_self_heal_max_resets in a run, over all steps", {
    tags: ["M1", "M12"],
  }, async () => {
    const run = await trial(file(`${TWO}\n  check: { exec: check, depends_on: [edit] }`, HEAL), {
      edit: [same, same, "ok"],
      check: [same, same, "ok"],
    });
    expect(run.order).toEqual(["plan", "edit", "edit", "edit", "check", "check"]);
    const last = run.events("ladder.climbed").at(-1)!;
    expect(last.rung).toBe("fail");
    expect(last.considered.find(({ rung }) => rung === "reset")?.reason).toBe("no hard resets left (1 used)");
  });

  it("charges the loop budget neither for a reset nor for a requeue", async () => {
    const run = await trial(file(TWO, "routing: { max_loops: 2 }", HEAL, "queue: { max_attempts: 2 }"), {
      edit: [same, same, same, same, "ok"],
    });
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual([
      "retry",
      "reset",
      "requeue",
      "retry",
    ]);
    expect(run.run.status).toBe("completed");
  });
});

describe("classifier mapping", () => {
  it.each([
    [{ timeout: "wall", message: "m" }, "transient_runtime"],
    [{ errno: "ECONNRESET", message: "m" }, "transient_runtime"],
    [{ signal: "SIGHUP", message: "m" }, "transient_runtime"],
    [{ httpStatus: 503, message: "m" }, "transient_runtime"],
    [{ timeout: "idle", message: "m" }, "transient_runtime"],
    [{ code: "OUTPUT_INVALID", message: "m" }, "deterministic_contract"],
    [{ httpStatus: 422, message: "m" }, "deterministic_contract"],
    [{ code: "MISSING_SECRET", message: "m" }, "deterministic_policy"],
    [{ httpStatus: 403, message: "m" }, "deterministic_policy"],
    [{ code: "NO_WORKER", message: "m" }, "deterministic_policy"],
    [{ code: "REPO_ERROR", message: "m" }, "deterministic_repo"],
  ] as const)(
    "takes %j for %s and tries it again only if that can help",
    { tags: ["M8", "M9", "M10", "M37"] },
    async (facts, failureClass) => {
      const run = await trial(file(TWO, HEAL), { edit: [{ facts }, "ok"] });
      expect(run.events("attempt.failed")[0]?.error.class).toBe(failureClass);
      const isHopeless = failureClass.startsWith("deterministic");
      expect(run.order).toEqual(isHopeless ? ["plan", "edit"] : ["plan", "edit", "edit"]);
      expect(run.run.status).toBe(isHopeless ? "failed" : "completed");
    },
  );
});

describe("timeout and idle-timeout handling", () => {
  it("gives each attempt both timeouts, and begins afresh after either", {
    tags: ["M5", "M6", "M37"],
  }, async () => {
    const seen: (number | null)[][] = [];
    const run = await trial(file(TWO, HEAL), {
      edit: (assignment, nth) => {
        seen.push([assignment.timeoutMs, assignment.idleTimeoutMs]);
        if (nth === 1) return { facts: { timeout: "wall", message: "too slow", diffHash: "1" } };
        return nth === 2 ? { facts: { timeout: "idle", message: "silent", diffHash: "2" } } : "ok";
      },
    });
    expect(seen).toEqual([
      [900_000, 300_000],
      [900_000, 300_000],
      [900_000, 300_000],
    ]);
    expect(run.events("attempt.failed").map(({ error }) => error.code)).toEqual(["TIMEOUT", "IDLE_TIMEOUT"]);
    expect(run.run.status).toBe("completed");
  });
});
