import { describe, expect, it } from "vitest";
import { type AnyFlow, type FlowOptions, flow, type Steps } from "../../src/flow/flow.js";
import { FlowStage } from "../support/flow-stage.js";
import { trace } from "../support/trace.js";

/** What was executed, in whatever process. */
const did: string[] = [];
const done = (): string[] => did.splice(0);

function make(options: FlowOptions, program: (s: Steps) => Promise<unknown>): AnyFlow {
  return flow("order", options as never, program as never) as AnyFlow;
}

/** A function that says that it ran, and fails if it should. */
const does =
  (name: string, fails = false) =>
  (): string => {
    did.push(name);
    if (fails) throw new Error(`${name} is down`);
    return name;
  };

const HOLD = { unhandled: "hold" } as const;
const ends = (lines: readonly string[], from: string): readonly string[] =>
  lines.slice(lines.lastIndexOf(from));

describe("a failure that the program does not catch", () => {
  it("fails the run in the name of the step", async () => {
    done();
    const order = make({}, async (s) => {
      await s.step("load", does("load"));
      await s.step("charge", does("charge", true));
    });
    const view = await (await FlowStage.begin(order)).rest();
    expect(trace(view)).toEqual([
      "start main",
      "start load",
      "ok load",
      "start charge",
      "fail charge ACTION_FAILED",
      "climb charge fail",
      "failed charge ACTION_FAILED",
      "fail main ACTION_FAILED",
      "climb main fail",
      "failed main ACTION_FAILED",
      "run failed ACTION_FAILED",
    ]);
    expect(view.run.error).toMatchObject({ step_id: "charge", code: "ACTION_FAILED" });
    expect(view.events("run.failed")[0]?.message).toBe("charge: charge is down");
  });

  it("holds the step where failures are held, and the program waits in no process", async () => {
    done();
    const order = (bad: boolean) =>
      make(HOLD, async (s) => {
        await s.step("load", does("load"));
        await s.step("optional", does("optional", true)).catch(() => {});
        await s.step("charge", does("charge", bad));
        return s.step("mail", does("mail"));
      });
    const stage = await FlowStage.begin(order(true));
    const held = await stage.rest();
    expect(ends(trace(held), "start charge")).toEqual([
      "start charge",
      "fail charge ACTION_FAILED",
      "climb charge fail",
      "failed charge ACTION_FAILED",
      "held charge ACTION_FAILED",
      "suspended main for charge",
      "run held",
    ]);
    expect(done()).toEqual(["load", "optional", "charge"]);
    await stage.resolve("charge", "retry");
    await stage.resume(order(false));
    const view = await stage.rest();
    expect(ends(trace(view), "resolved charge retry")).toEqual([
      "resolved charge retry",
      "retried charge",
      "start main",
      "start charge",
      "ok charge",
      "start mail",
      "ok mail",
      "ok main",
      "run completed",
    ]);
    expect([view.run.status, done()]).toEqual(["completed", ["charge", "mail"]]);
  });

  it.each([
    ["complete", "paid"],
    ["skip", null],
  ] as const)("goes on with what a person gives it: %s", async (action, output) => {
    done();
    const order = make(HOLD, (s) => s.step("charge", does("charge", true)));
    const stage = await FlowStage.begin(order);
    await stage.rest();
    await stage.resolve("charge", action, ...(action === "complete" ? ["paid"] : []));
    const view = await (await stage.resume()).rest();
    expect([view.run.status, view.job("main").output]).toEqual([
      "completed",
      { kind: "value", value: output },
    ]);
    expect(done()).toEqual(["charge"]);
  });

  it("is told to the program once more where a person lets it fail, and nobody is asked again", async () => {
    done();
    const order = make(HOLD, (s) => s.step("charge", does("charge", true)));
    const stage = await FlowStage.begin(order);
    await stage.rest();
    await stage.resolve("charge", "fail");
    const view = await (await stage.resume()).rest();
    expect(ends(trace(view), "resolved charge fail")).toEqual([
      "resolved charge fail",
      "failed charge ACTION_FAILED",
      "start main",
      "fail main ACTION_FAILED",
      "climb main fail",
      "failed main ACTION_FAILED",
      "run failed ACTION_FAILED",
    ]);
    expect(done()).toEqual(["charge"]);
  });

  it("holds the program itself after it has compensated: the step is not begun again behind it", async () => {
    done();
    const order = make(HOLD, async (s) => {
      await s.step("reserve", does("reserve"));
      try {
        await s.step("charge", does("charge", true));
      } catch (error) {
        await s.step("release", does("release"));
        throw new Error("could not be paid", { cause: error });
      }
    });
    const stage = await FlowStage.begin(order);
    const held = await stage.rest();
    expect(held.jobs.map(({ step, status }) => `${step} ${status}`)).toEqual([
      "main held",
      "reserve completed",
      "charge failed",
      "release completed",
    ]);
    expect(done()).toEqual(["reserve", "charge", "release"]);
    const charge = await stage.id("charge");
    expect(await stage.operate({ type: "step.retry", job: charge })).toBe("STEP_COMPLETED");
    expect(await stage.operate({ type: "step.retry", job: charge, force: true })).toBe(null);
    await (await stage.resume()).rest();
    expect(done()).toEqual(["charge", "release"]);
  });
});

describe("a process that dies", () => {
  it("is followed by one that gives the program what is on record", async () => {
    done();
    const order = make({}, async (s) => {
      const first = await s.step("a", does("a"));
      await s.run("build", { exec: "make" });
      const [b, c] = await Promise.all([s.step("b", does("b")), s.sleep("pause", "10m")]);
      return [first, b, c ?? null, await s.step("d", does("d"))];
    });
    const stage = await FlowStage.begin(order, null, { build: [{ output: "built", takesMs: 5_000 }] });
    expect(done()).toEqual(["a"]);
    stage.kill();
    await stage.resume();
    const view = await stage.rest();
    expect(done()).toEqual(["b", "d"]);
    expect(view.job("main").output).toEqual({ kind: "value", value: ["a", "b", null, "d"] });
  });

  it("costs the program no restart as long as it gets on", async () => {
    done();
    const stage = await FlowStage.begin(
      make({}, async (s) => {
        await s.step("turn", does("turn"));
        await s.sleep("wait", "5m");
      }),
    );
    for (let turns = 2; turns <= 12; turns += 1) {
      stage.kill();
      const further = make({ changes: "by_name" }, async (s) => {
        for (let n = 0; n < turns; n += 1) await s.step("turn", does("turn"));
        await s.sleep("wait", "5m");
      });
      await stage.resume(further);
    }
    const view = await stage.rest();
    expect([view.run.status, done().length, view.events("restart.granted").at(-1)?.recovery]).toEqual([
      "completed",
      12,
      1,
    ]);
  });

  it("leaves a function to be called again before it begins anew", async () => {
    done();
    let life = 1;
    const order = make({}, (s) =>
      s.step("slow", () => {
        did.push(`slow ${life}`);
        return life === 1 ? new Promise<never>(() => {}) : "done";
      }),
    );
    const stage = await FlowStage.begin(order);
    life = 2;
    stage.kill();
    await stage.resume();
    const view = await stage.rest();
    expect(done()).toEqual(["slow 1", "slow 2"]);
    expect(ends(trace(view), "restart main 1/5")).toEqual([
      "restart main 1/5",
      "fail slow WORKER_LOST",
      "climb slow restart",
      "restart slow 1/5",
      "awaits its call: slow",
      "start main",
      "start slow",
      "ok slow",
      "ok main",
      "run completed",
    ]);
  });
});

describe("a program that waits", () => {
  it("leaves memory for a question and a long sleep, and comes back for the answer", async () => {
    done();
    const order = make({}, async (s) => {
      const { choice } = await s.ask("release?", { prompt: "Release?", choices: ["yes", "no"] });
      await s.sleep("cool down", "20m");
      return s.step("ship", () => `${choice} ${does("ship")()}`);
    });
    const stage = await FlowStage.begin(order);
    await stage.turn(1);
    expect(ends(trace(await stage.view()), "asked release?")).toEqual([
      "asked release?",
      "suspended main for release?",
    ]);
    const job = await stage.id("release?");
    expect(await stage.operate({ type: "human.answer", job, choice: "yes", text: "" })).toBe(null);
    const view = await stage.rest();
    expect(ends(trace(view), "answered release? yes")).toEqual([
      "answered release? yes",
      "ok release?",
      "start main",
      "wait cool down +1200000",
      "suspended main for cool down",
      "given cool down",
      "start main",
      "start ship",
      "ok ship",
      "ok main",
      "run completed",
    ]);
    expect(view.job("main").output).toEqual({ kind: "value", value: "yes ship" });
  });

  it("waits without an attempt that counts: suspended ones are charged to nothing", async () => {
    const order = make({}, async (s) => {
      for (let day = 0; day < 8; day += 1) await s.sleep("night", "10m");
    });
    const view = await (await FlowStage.begin(order)).rest();
    expect(view.run.status).toBe("completed");
    expect(view.job("main").attempt_id).toBe(9);
  });
});

describe("names", () => {
  it("count up in a loop, and are refused while one is open", async () => {
    const order = make({}, async (s) => {
      for (const _ of [1, 2]) await s.step("turn", () => 1);
      const [first, second] = await Promise.allSettled([s.step("same", () => 1), s.step("same", () => 2)]);
      return [first!.status, (second as PromiseRejectedResult).reason.code];
    });
    const view = await (await FlowStage.begin(order)).rest();
    expect(view.jobs.map(({ step }) => step)).toEqual(["main", "turn", "turn#2", "same"]);
    expect(view.job("main").output).toEqual({ kind: "value", value: ["fulfilled", "NAME_IN_USE"] });
  });

  it("may not look like places of items", async () => {
    const order = make({}, async (s) => {
      const bad = ["a/b", "a#2", "a[0]", " a", "", "x".repeat(201), "a@b"].map((name) =>
        s.step(name, () => 1),
      );
      const ended = await Promise.allSettled(bad);
      return [ended.map(({ status }) => status), await s.step(["pack", "a/b#1"], () => "fine")];
    });
    const view = await (await FlowStage.begin(order)).rest();
    expect(view.job("main").output).toEqual({ kind: "value", value: [Array(7).fill("rejected"), "fine"] });
    expect(view.jobs.map(({ step }) => step)).toEqual(["main", "pack:a%2Fb%231"]);
  });
});
