import { describe, expect, it } from "vitest";
import { type AnyFlow, type FlowOptions, flow, type Steps } from "../../src/flow/flow.js";
import { FlowStage } from "../support/flow-stage.js";

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
  return flow("order", { unhandled: "hold", ...options } as never, program as never) as AnyFlow;
}

const before = make(async (s) => {
  await s.step("load", does("load"));
  await s.step("charge card", does("charge card"));
  await s.step("ship", does("ship", true));
});

/** A run that is held because it cannot ship, gone on with by another program. */
async function edited(program: (s: Steps) => Promise<unknown>, options: FlowOptions = {}) {
  done();
  const stage = await FlowStage.begin(before);
  await stage.rest();
  expect(done()).toEqual(["load", "charge card", "ship"]);
  await stage.resolve("ship", "retry");
  await stage.resume(make(program, options));
  const view = await stage.rest();
  const { status, error } = view.job("main");
  return { stage, view, status, error, did: done() };
}

describe("a program that was changed under a run", () => {
  it("goes on where nothing that is on record is missing", async () => {
    const end = await edited(async (s) => {
      await s.step("load", does("load"));
      await s.step("charge card", does("charge card"));
      await s.step("ship", does("ship"));
      await s.step("mail", does("mail"));
    });
    expect([end.view.run.status, end.did]).toEqual(["completed", ["ship", "mail"]]);
  });

  it("is held before a renamed step does its work again, with both lines and the ways on", async () => {
    const renamed = async (s: Steps): Promise<void> => {
      await s.step("load", does("load"));
      await s.step("charge", does("charge"));
      await s.step("ship", does("ship"));
    };
    const end = await edited(renamed);
    expect([end.status, end.error?.code, end.did]).toEqual(["held", "FLOW_CHANGED", []]);
    expect(end.error?.message).toMatch(
      /^here the run had called charge card \(completed, changes\.test\.ts:\d+\), and the program now calls charge \(changes\.test\.ts:\d+\), which the run does not know\. If it is charge card under a new name, say was: "charge card"; if it is new, say added: true; or run the program as it was\. Then retry$/,
    );
    expect(end.view.events("step.declared").map(({ step }) => step)).not.toContain("charge");
    const { stage } = end;
    await stage.resolve("main", "retry");
    await stage.resume(
      make(async (s) => {
        await s.step("load", does("load"));
        await s.step("charge", { was: "charge card" }, does("charge"));
        await s.step("ship", does("ship"));
      }),
    );
    expect([(await stage.rest()).run.status, done()]).toEqual(["completed", ["ship"]]);
  });

  it("is held before a step that was put in begins; with `added` it begins", async () => {
    const inserted =
      (options: { added?: boolean }) =>
      async (s: Steps): Promise<void> => {
        await s.step("load", does("load"));
        await s.step("fraud check", options, does("fraud check"));
        await s.step("charge card", does("charge card"));
        await s.step("ship", does("ship"));
      };
    expect(await edited(inserted({}))).toMatchObject({
      status: "held",
      error: { code: "FLOW_CHANGED" },
      did: [],
    });
    const added = await edited(inserted({ added: true }));
    expect([added.view.run.status, added.did]).toEqual(["completed", ["fraud check", "ship"]]);
  });

  it("goes on by name where steps stand in another order, and without one that is gone", async () => {
    const swapped = await edited(async (s) => {
      await s.step("charge card", does("charge card"));
      await s.step("load", does("load"));
      await s.step("ship", does("ship"));
    });
    expect([swapped.view.run.status, swapped.did]).toEqual(["completed", ["ship"]]);
    const removed = await edited(async (s) => {
      await s.step("load", does("load"));
      await s.step("ship", does("ship"));
    });
    expect([removed.view.run.status, removed.did]).toEqual(["completed", ["ship"]]);
  });

  it("is held where a recorded step is of another kind now", async () => {
    const end = await edited(async (s) => {
      await s.step("load", does("load"));
      await s.run("charge card", { exec: "charge" });
      await s.step("ship", does("ship"));
    });
    expect([end.status, end.error?.code, end.did]).toEqual(["held", "FLOW_CHANGED", []]);
    expect(end.error?.message).toContain("charge card is on record as function (completed, ");
  });

  it("goes on by names alone where its options say so", async () => {
    const end = await edited(
      async (s) => {
        await s.step("load", does("load"));
        await s.step("charge", does("charge"));
        await s.step("ship", does("ship"));
      },
      { changes: "by_name" },
    );
    expect([end.view.run.status, end.did]).toEqual(["completed", ["charge", "ship"]]);
  });

  it("takes the text of today for a command that a person retries", async () => {
    const order = (exec: string) =>
      make(async (s) => {
        await s.step("load", does("load"));
        return s.run("build", { exec });
      });
    const stage = await FlowStage.begin(order("mkae"), null, {
      build: (assignment) => (assignment.action.exec === "make" ? { output: "built" } : "fail"),
    });
    done();
    await stage.rest();
    await stage.resolve("build", "retry");
    await stage.resume(order("make"));
    const view = await stage.rest();
    expect([view.run.status, view.job("main").output, done()]).toEqual([
      "completed",
      { kind: "value", value: "built" },
      [],
    ]);
  });
});
