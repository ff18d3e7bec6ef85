import { describe, expect, it } from "vitest";
import { z } from "zod";
import { decide } from "../../src/core/decide/decide.js";
import { type AnyFlow, type FlowOptions, flow, type Steps } from "../../src/flow/flow.js";
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
const outputOf = (stage: FlowStage) => stage.view().then((view) => view.job("main").output);

describe("what a program may do with what it is given", () => {
  it("await a rejected call later, or never", async () => {
    const order = make(async (s) => {
      const late = s.step("late", does("late", true));
      void s.step("never", does("never", true));
      await s.sleep("pause", "1m");
      return late.catch((error: { code: string }) => error.code);
    });
    const stage = await FlowStage.begin(order);
    expect((await stage.rest()).run.status).toBe("completed");
    expect(await outputOf(stage)).toEqual({ kind: "value", value: "ACTION_FAILED" });
  });

  it("change its copy of an output: the record stays, and a replay gives the record", async () => {
    const order = make(async (s) => {
      const list = await s.step("load", () => [1, 2]);
      list.push(3);
      await s.sleep("night", "10m");
      return list;
    });
    const stage = await FlowStage.begin(order);
    const view = await stage.rest();
    expect(view.job("load").output).toEqual({ kind: "value", value: [1, 2] });
    expect(await outputOf(stage)).toEqual({ kind: "value", value: [1, 2, 3] });
  });

  it("get the recorded form at once, not a value that a replay could not give", async () => {
    const order = make(async (s) => [
      await s.step("part", () => ({ here: 1, gone: undefined })),
      await s.step("date", () => new Date(0)).catch((error: { code: string }) => error.code),
    ]);
    const stage = await FlowStage.begin(order);
    await stage.rest();
    expect(await outputOf(stage)).toEqual({ kind: "value", value: [{ here: 1 }, "OUTPUT_INVALID"] });
  });

  it("draw numbers, names and times that are the same in each attempt, and in no other run", async () => {
    const drawn: string[] = [];
    const order = make(async (s) => {
      const first = [s.random("dice"), s.uuid("id"), s.uuid(["id", 2]), s.now().toISOString()].join();
      drawn.push(first);
      await s.sleep("night", "10m");
      drawn.push(s.now().toISOString());
      return first;
    });
    const stage = await FlowStage.begin(order);
    await stage.rest();
    expect(drawn).toHaveLength(3);
    expect(drawn[0]).toBe(drawn[1]);
    expect(drawn[0]).toMatch(/^0\.\d+,[0-9a-f-]{36},[0-9a-f-]{36},2023-11-14T22:13:20\.000Z$/);
    expect(drawn[2]).toBe("2023-11-14T22:23:20.000Z");
  });
});

describe("an output that does not fit", () => {
  it("is never tried again: what the step does has been done", async () => {
    done();
    const order = make(
      (s) =>
        s.step("charge", { retry: 5, check: z.object({ id: z.string() }) as never }, () => {
          did.push("charge");
          return { id: 7 };
        }),
      { unhandled: "hold" },
    );
    const view = await (await FlowStage.begin(order)).rest();
    expect([done(), view.job("charge").status, view.job("charge").error?.code]).toEqual([
      ["charge"],
      "held",
      "OUTPUT_INVALID",
    ]);
    expect(view.job("charge").error?.message).toContain("output.id: ");
  });

  it("fails the program where it is the program's own, and an input that no longer fits too", async () => {
    const output = make(async () => ({ id: 7 }), { output: z.object({ id: z.string() }) });
    expect((await (await FlowStage.begin(output)).rest()).run.error?.code).toBe("OUTPUT_INVALID");
    const input = make(async () => null, { input: z.object({ id: z.number() }) });
    expect((await (await FlowStage.begin(input, { id: "x" })).rest()).run.error?.code).toBe("INVALID_INPUT");
  });
});

describe("what is not committed", () => {
  it("is not told to the program", async () => {
    done();
    let heard = 0;
    const order = make(async (s) => {
      await s.step("a", does("a"));
      heard += 1;
      return s.step("b", does("b"));
    });
    const stage = FlowStage.prepare(order);
    // The outcome of `a` is decided, and its commit is refused for good.
    let commits = 0;
    const { commit } = stage.store;
    stage.store.commit = async (appends) => {
      commits += 1;
      if (
        appends.some(({ events }) => events.some(({ type }) => type === "attempt.succeeded")) &&
        heard === 0
      )
        throw Object.assign(new Error("fenced off"), { code: "LEASE_LOST" });
      return commit(appends);
    };
    await stage.start(null).catch(() => {});
    await stage.turn(3).catch(() => {});
    expect([heard, done(), commits > 1]).toEqual([0, ["a"], true]);
  });

  it("a call of an attempt that is over comes to nothing", async () => {
    const stage = await FlowStage.begin(make((s) => s.step("slow", () => new Promise<string>(() => {}))));
    const call = { type: "step.declare", scope: "root", step: "late", definition: {} } as const;
    const more = { repairs: [], after: 0, source: null };
    const run = await stage.state();
    const main = run.jobs[0]!;
    expect(decide(run, { ...call, ...more, by: main.id, attempt: main.attempt - 1 }, 0)).toEqual([]);
    expect(decide(run, { ...call, ...more, by: main.id + 1, attempt: 1 }, 0)).toEqual([]);
  });
});

describe("the end of a program and what it leaves", () => {
  it("begins again what ended with it when a person retries it", async () => {
    done();
    let bug = true;
    const order = make(async (s) => {
      const [first, slow] = await Promise.all([
        s.step("first", does("first")).then((name) => {
          if (bug) throw new TypeError("bug");
          return name;
        }),
        s.run<string>("slow", { exec: "make" }),
      ]);
      return [first, slow];
    });
    const stage = await FlowStage.begin(order, null, { slow: [{ output: "slow", takesMs: 9_000 }] });
    expect((await stage.rest()).job("slow").error?.code).toBe("FLOW_ENDED");
    bug = false;
    expect(await stage.operate({ type: "step.retry", job: await stage.id("main") })).toBe(null);
    const view = await (await stage.resume()).rest();
    expect([view.run.status, done(), view.job("slow").status]).toEqual(["completed", ["first"], "completed"]);
  });

  it("begins again what ended with it when a person goes back to the program", async () => {
    done();
    const order = make(async (s) => {
      void s.step(
        "aside",
        ({ signal }) =>
          new Promise<string>((_, reject) => {
            signal.addEventListener("abort", () => reject(new Error("ended")));
          }),
      );
      return s.step("first", does("first"));
    });
    const stage = await FlowStage.begin(order);
    expect((await stage.rest()).job("aside").status).toBe("canceled");
    const before = (await stage.view()).job("aside").attempt_id;
    expect(await stage.operate({ type: "step.resume_from", job: await stage.id("main") })).toBe(null);
    const view = await (await stage.resume()).rest();
    expect([view.run.status, done(), view.job("aside").attempt_id]).toEqual([
      "completed",
      ["first"],
      before + 1,
    ]);
  });

  it("does not wait for a loser that ignores its signal: what it says later is dropped", async () => {
    done();
    const order = make((s) =>
      Promise.race([s.step("fast", does("fast")), s.step("deaf", () => new Promise<string>(() => {}))]),
    );
    const view = await (await FlowStage.begin(order)).rest();
    expect([view.run.status, view.job("deaf").status, view.job("deaf").error?.code]).toEqual([
      "completed",
      "canceled",
      "FLOW_ENDED",
    ]);
  });

  it("comes at the latest when its time to tidy up is over", async () => {
    const order = make(async (s) => {
      try {
        return await s.step("slow", () => new Promise<string>(() => {}));
      } finally {
        await new Promise(() => {});
      }
    });
    const stage = await FlowStage.begin(order);
    await stage.operate({ type: "run.cancel" });
    const view = await stage.rest();
    expect(view.run.status).toBe("canceled");
    expect(
      view.log.at(-1)!.at - view.log.find(({ event }) => event.type === "run.cancel_requested")!.at,
    ).toBe(3_000);
  });
});

describe("a way back beside others", () => {
  it("expects nothing of what is taken back, also where another outcome comes first now", async () => {
    done();
    const order = make(async (s) => {
      let knowsB = false;
      const a = s.run("a", { exec: "a" });
      const b = s.step("b", does("b")).then((name) => {
        knowsB = true;
        return name;
      });
      const early = a.then(() => (knowsB ? null : s.step("early", does("early"))));
      await Promise.all([a, b]);
      await s.step("both", does("both"));
      await early;
    });
    const stage = await FlowStage.begin(order, null, { a: [{ output: "a", takesMs: 1_000 }] });
    await stage.rest();
    expect(done()).toEqual(["b", "both"]);
    expect(await stage.operate({ type: "step.resume_from", job: await stage.id("b") })).toBe(null);
    const view = await (await stage.resume()).rest();
    expect([view.run.status, view.job("main").error, done().sort()]).toEqual([
      "completed",
      null,
      ["b", "both", "early"],
    ]);
  });
});

describe("repairs", () => {
  it("belong to their call: in a loop each has its own", async () => {
    done();
    const broken = new Set(["turn 1", "turn 2"]);
    const order = make(async (s) => {
      for (const n of [1, 2])
        await s.step(
          "turn",
          {
            repair: {
              mend: () => {
                did.push(`mend ${n}`);
                broken.delete(`turn ${n}`);
              },
            },
          },
          () => does(`turn ${n}`, broken.has(`turn ${n}`))(),
        );
    });
    const view = await (await FlowStage.begin(order)).rest();
    expect(view.jobs.map(({ step }) => step)).toEqual(["main", "turn", "turn.mend", "turn#2", "turn#2.mend"]);
    expect(trace(view).filter((line) => line.startsWith("remediate "))).toEqual([
      "remediate turn by turn.mend",
      "remediate turn#2 by turn#2.mend",
    ]);
  });
});

describe("a call that cannot be made so", () => {
  it("is rejected before it is on record, and says what is wrong with it", async () => {
    const order = make(async (s) => {
      const wrong = [
        s.step("a", { retry: { max: -1 } }, does("a")),
        s.run("b", { exec: "make", on_fail: { goto: "a" } } as never),
        s.sleep("c", "soon"),
      ];
      const ended = await Promise.allSettled(wrong);
      return ended.map((each) => (each as PromiseRejectedResult).reason.message);
    });
    const stage = await FlowStage.begin(order);
    const view = await stage.rest();
    expect(view.jobs).toHaveLength(1);
    expect(await outputOf(stage)).toEqual({
      kind: "value",
      value: [
        expect.stringMatching(/^a cannot be called so: on_fail\.retry\.max: /),
        expect.stringMatching(/^b cannot be called so: on_fail\.goto: /),
        'a sleep of "soon"',
      ],
    });
  });
});

describe("what is told of a failure that the program caught", () => {
  it("is that of a step, whatever its occurrence, and of no run that went wrong", async () => {
    const order = make(async (s) => {
      for (const _ of [1, 2]) await s.step("charge", does("charge", true)).catch(() => {});
    });
    const stage = await FlowStage.begin(order);
    const view = await stage.rest();
    expect(view.jobs.map(({ step, family }) => [step, family])).toEqual([
      ["main", null],
      ["charge", null],
      ["charge#2", "charge"],
    ]);
    expect([view.run.tally?.handled, view.events("run.completed")[0]?.handled]).toEqual([0, []]);
    const book = await stage.store.listUnrolled(null, 100);
    expect(new Set(book.map(({ step }) => step))).toEqual(new Set(["charge"]));
  });
});

describe("a sleep", () => {
  it("is nobody's question", async () => {
    const stage = await FlowStage.begin(make((s) => s.sleep("night", "10m")));
    await stage.turn(2);
    const { run, jobs } = await stage.view();
    expect([run.status, run.waiting, jobs.map(({ unanswered }) => unanswered)]).toEqual([
      "running",
      0,
      [false, false],
    ]);
  });
});
