import { describe, expect, it } from "vitest";
import type { Script } from "../../../test/support/scripted-worker.js";
import { Stage } from "../../../test/support/stage.js";
import type { LoggedEvent } from "../../core/model/events.js";
import { JobMemories, Meter } from "./measure.js";

/** The measurements as sorted lines, without durations. */
function counted(meter: Meter, log: readonly LoggedEvent[]): string[] {
  return log
    .flatMap(({ event }) => meter.measure(1, event))
    .filter(({ name }) => name !== "task.step.duration_seconds")
    .map(({ name, labels }) => [name, ...Object.values(labels)].join(" "));
}

const healing = (lines: readonly string[]): string[] =>
  lines.filter((line) => line.startsWith("task.self_heal."));

async function healed(text: string, script: Script, ask: (stage: Stage) => Promise<void>): Promise<string[]> {
  const stage = await Stage.begin(text, script);
  await ask(stage);
  const { log } = await stage.rest();
  everyCut(log);
  return healing(counted(new Meter(), log));
}

/** Checks every point at which one process could end and the next continue: together they must count what one would. */
function everyCut(log: readonly LoggedEvent[]): void {
  const whole = counted(new Meter(), log);
  for (let cut = 1; cut < log.length; cut += 1) {
    const [before, after] = [log.slice(0, cut), log.slice(cut)];
    const next = new Meter();
    next.recall(1, before);
    expect([...counted(new Meter(), before), ...counted(next, after)]).toEqual(whole);
  }
}

const same = { exit: 1, stderr: "no", diffHash: "d" };
const HEAL = "workspace: { repo: . }\nunhandled: hold\nself_heal: { step_max_attempts: 2 }\n";

describe("what the meter counts of attempts that follow a failure", () => {
  it("is the same wherever another process goes on: retries, resets, the queue, a hold and a person's retry", {
    tags: ["M32"],
  }, async () => {
    const lines = await healed(
      `${HEAL}queue: { max_attempts: 2, backoff: { mode: fixed, delay_ms: 100 } }\nsteps: { edit: { exec: edit } }`,
      { edit: [same, same, same, same, { output: null }] },
      async (stage) => {
        await stage.rest();
        await stage.operate({ type: "step.retry", job: await stage.id("edit") });
        await stage.resume();
      },
    );
    expect(lines).toEqual([
      "task.self_heal.attempts_total soft_reset application failed",
      "task.self_heal.attempts_total requeue stuck_no_progress failed",
      "task.self_heal.attempts_total soft_reset application failed",
      "task.self_heal.exhausted_total",
      "task.self_heal.recovered_total",
    ]);
  });

  it("has an operator's hard reset under hard_reset with the class of the failure, also after a hold", {
    tags: ["M32"],
  }, async () => {
    const lines = await healed(
      `${HEAL}steps: { edit: { exec: edit, on_fail: { retry: { max: 0 } } } }`,
      { edit: [{ exit: 1 }, { output: null }] },
      async (stage) => {
        expect((await stage.rest()).job("edit").status).toBe("held");
        await stage.operate({ type: "step.hard_reset", job: await stage.id("edit") });
        await stage.resume();
      },
    );
    expect(lines).toEqual([
      "task.self_heal.attempts_total hard_reset application succeeded",
      "task.self_heal.recovered_total",
    ]);
  });

  it("has a retry that a hard reset by hand ends as stopped, and the attempt after that as a hard reset", {
    tags: ["M32"],
  }, async () => {
    const lines = await healed(
      `${HEAL}steps: { edit: { exec: edit, on_fail: { retry: { max: 1 } } } }`,
      { edit: [{ exit: 1 }, { exit: 1, takesMs: 5_000 }, { output: null }] },
      async (stage) => {
        expect(await stage.statuses("edit")).toEqual(["running"]);
        const job = await stage.id("edit");
        expect(await stage.operate({ type: "step.hard_reset", job, force: true })).toBeNull();
      },
    );
    expect(lines).toEqual([
      "task.self_heal.attempts_total soft_reset application stopped",
      "task.self_heal.attempts_total hard_reset application succeeded",
      "task.self_heal.recovered_total",
    ]);
  });

  it.each<[string, (stage: Stage) => Promise<unknown>]>([
    ["Ctrl-C", (stage) => stage.interrupt()],
    ["kill -9", async (stage) => stage.kill()],
  ])("has a retry once that %s cut short: it is made once more", { tags: ["M32"] }, async (_, end) => {
    const lines = await healed(
      "steps: { a: { exec: make, on_fail: { retry: { max: 1 } } } }",
      { a: ["fail", { output: null, takesMs: 1_000 }] },
      async (stage) => {
        await end(stage);
        await stage.resume();
      },
    );
    expect(lines).toEqual([
      "task.self_heal.attempts_total soft_reset application succeeded",
      "task.self_heal.recovered_total",
    ]);
  });

  it("has a loss that nothing restarts as a failure of the class infrastructure", {
    tags: ["M32"],
  }, async () => {
    const lost = { facts: { lost: true, message: "gone" } };
    const lines = await healed(
      "max_recoveries: 0\nsteps: { a: { exec: make, on_fail: { retry: { max: 2 } } } }",
      { a: [lost, lost, "ok"] },
      async () => {},
    );
    expect(lines).toEqual([
      "task.self_heal.attempts_total soft_reset infrastructure failed",
      "task.self_heal.attempts_total soft_reset infrastructure succeeded",
      "task.self_heal.recovered_total",
    ]);
  });

  it("is over with a goto: what the next visit tries has nothing to do with it, but the step has recovered", {
    tags: ["M32"],
  }, async () => {
    const lines = await healed(
      `steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { retry: { max: 1 }, goto: { step: setup, max: 1 } } }`,
      { build: ["fail", "fail", "ok"] },
      async () => {},
    );
    expect(lines).toEqual([
      "task.self_heal.attempts_total soft_reset application failed",
      "task.self_heal.recovered_total",
    ]);
  });
});

describe("the memory of jobs", () => {
  it("is bounded: the jobs of the run that was told of first are forgotten", () => {
    const memories = new JobMemories(2);
    for (const job of [1e7 + 1, 1e7 + 2, 2e7 + 1]) memories.of(job).failedAs = "application";
    expect([1e7 + 1, 1e7 + 2, 2e7 + 1].map((job) => memories.find(job) === null)).toEqual([
      true,
      true,
      false,
    ]);
    memories.forget(2e7 + 1);
    expect(memories.find(2e7 + 1)).toBeNull();
  });
});
