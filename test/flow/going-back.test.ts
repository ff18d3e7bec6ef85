import { describe, expect, it } from "vitest";
import { type AnyFlow, type FlowOptions, flow, type Steps } from "../../src/flow/flow.js";
import { FlowCanceled } from "../../src/flow/flow-errors.js";
import { FlowStage } from "../support/flow-stage.js";
import { trace } from "../support/trace.js";

const did: string[] = [];
const done = (): string[] => did.splice(0);
const does =
  (name: string, fails = false) =>
  (): string => {
    did.push(name);
    if (fails) throw new Error(`${name} is down`);
    return name;
  };

function make(program: (s: Steps) => Promise<unknown>, options: FlowOptions = {}): AnyFlow {
  return flow("order", options as never, program as never) as AnyFlow;
}

describe("a person who goes back in a flow", () => {
  const chain = (bad: string) =>
    make(async (s) => {
      await s.step("a", does("a"));
      const [b] = await Promise.all([
        s.step("b", does("b", bad === "b")),
        s.step("c", async () => {
          await null;
          return does("c")();
        }),
      ]);
      await s.step("d", does("d", bad === "d"));
      return b;
    });

  it("retries the failed step, and its program with it", async () => {
    done();
    const stage = await FlowStage.begin(chain("d"));
    await stage.rest();
    done();
    expect(await stage.operate({ type: "step.retry", job: await stage.id("d") })).toBe(null);
    await stage.resume(chain(""));
    expect([(await stage.rest()).run.status, done()]).toEqual(["completed", ["d"]]);
  });

  it("retries the program, and the step that it failed of with it", async () => {
    done();
    const stage = await FlowStage.begin(chain("d"));
    await stage.rest();
    done();
    expect(await stage.operate({ type: "step.retry", job: await stage.id("main") })).toBe(null);
    await stage.resume(chain(""));
    expect([(await stage.rest()).run.status, done()]).toEqual(["completed", ["d"]]);
  });

  it("resets the run: only what failed runs again", async () => {
    done();
    const stage = await FlowStage.begin(chain("d"));
    await stage.rest();
    done();
    expect(await stage.operate({ type: "run.reset" })).toBe(null);
    await stage.resume(chain(""));
    expect([(await stage.rest()).run.status, done()]).toEqual(["completed", ["d"]]);
  });

  it("begins anew what was called knowing the outcome, and nothing else", async () => {
    done();
    const stage = await FlowStage.begin(chain(""));
    expect((await stage.rest()).run.status).toBe("completed");
    done();
    expect(await stage.operate({ type: "step.resume_from", job: await stage.id("b") })).toBe(null);
    await stage.resume();
    const view = await stage.rest();
    expect([view.run.status, done()]).toEqual(["completed", ["b", "d"]]);
    expect(trace(view).slice(-9)).toEqual([
      "operator goto b",
      "again b main d",
      "start main",
      "start b",
      "ok b",
      "start d",
      "ok d",
      "ok main",
      "run completed",
    ]);
  });

  it("may let the program go another way then", async () => {
    done();
    let weather = "rain";
    const order = make(async (s) => {
      const sky = await s.step("look", () => weather);
      return s.step(sky === "rain" ? "umbrella" : "hat", does(sky));
    });
    const stage = await FlowStage.begin(order);
    await stage.rest();
    weather = "sun";
    expect(await stage.operate({ type: "step.resume_from", job: await stage.id("look") })).toBe(null);
    await stage.resume();
    const view = await stage.rest();
    expect(view.jobs.map(({ step, status }) => `${step} ${status}`)).toEqual([
      "main completed",
      "look completed",
      "umbrella canceled",
      "hat completed",
    ]);
    expect([view.run.status, done()]).toEqual(["completed", ["rain", "sun"]]);
  });
});

describe("a program with an error of its own", () => {
  it("is held where failures are held, and goes on where it was once it is corrected", async () => {
    done();
    const order = (bug: boolean) =>
      make(
        async (s) => {
          const user = await s.step("load", () => ({ name: does("load")() }));
          if (bug) return (user as unknown as { address: { city: string } }).address.city;
          return s.step("ship", does("ship"));
        },
        { unhandled: "hold" },
      );
    const stage = await FlowStage.begin(order(true));
    const held = await stage.rest();
    expect([held.job("main").status, held.job("main").error?.code]).toEqual(["held", "FLOW_FAILED"]);
    await stage.resolve("main", "retry");
    await stage.resume(order(false));
    expect([(await stage.rest()).run.status, done()]).toEqual(["completed", ["load", "ship"]]);
  });
});

describe("the end of a program", () => {
  it("ends what it has called and not awaited, which is no failure of the run", async () => {
    done();
    const order = make((s) =>
      Promise.race([
        s.step("fast", does("fast")),
        s.step(
          "slow",
          ({ signal }) =>
            new Promise<string>((_, reject) => {
              signal.addEventListener("abort", () => reject(signal.reason));
            }),
        ),
        s.sleep("late", "1h"),
      ]),
    );
    const view = await (await FlowStage.begin(order)).rest();
    expect(view.run.status).toBe("completed");
    expect(["slow", "late"].map((step) => [view.job(step).status, view.job(step).error?.code])).toEqual([
      ["canceled", "FLOW_ENDED"],
      ["canceled", "FLOW_ENDED"],
    ]);
    expect(view.job("main").output).toEqual({ kind: "value", value: "fast" });
  });

  it("comes with a cancel, which the program is told, and which it cannot swallow", async () => {
    done();
    const told: string[] = [];
    const order = make(async (s) => {
      try {
        await s.step("slow", () => new Promise<string>(() => {}));
      } catch (error) {
        told.push(error instanceof FlowCanceled ? error.reason : "?");
        await s.step("more", does("more")).catch((other: Error) => told.push(other.name));
        return "swallowed";
      } finally {
        told.push("tidied up");
      }
    });
    const stage = await FlowStage.begin(order);
    expect(await stage.operate({ type: "run.cancel" })).toBe(null);
    const view = await stage.rest();
    expect([view.run.status, view.job("main").status, done()]).toEqual(["canceled", "canceled", []]);
    expect(told).toEqual(["because", "FlowCanceled", "tidied up"]);
  });

  it("comes with a deadline of the run, and with the time limit of an attempt", async () => {
    const waits = (s: Steps): Promise<unknown> => s.sleep("long", "30m");
    const late = await (await FlowStage.begin(make(waits, { deadline: "10m" }))).rest();
    expect([late.run.status, late.run.error?.code]).toEqual(["canceled", "DEADLINE"]);
    const hangs = (): Promise<unknown> => new Promise(() => {});
    const limited = await (await FlowStage.begin(make(hangs, { timeout_ms: "10s" }))).rest();
    expect([limited.run.status, limited.run.error?.code]).toEqual(["failed", "TIMEOUT"]);
  });

  it("waits while the run is paused, and goes on after", async () => {
    done();
    const stage = await FlowStage.begin(
      make(async (s) => {
        await s.run("build", { exec: "make" });
        return s.step("ship", does("ship"));
      }),
      null,
      { build: [{ output: "built", takesMs: 10_000 }] },
    );
    expect(await stage.operate({ type: "run.pause", takeover: false })).toBe(null);
    const paused = await stage.rest();
    expect([paused.run.status, paused.job("ship").status, done()]).toEqual(["paused", "blocked", []]);
    const view = await (await stage.resume()).rest();
    expect([view.run.status, done()]).toEqual(["completed", ["ship"]]);
  });
});
