import { describe, expect, it } from "vitest";
import { flow } from "../../src/flow/flow.js";
import { StepFailed } from "../../src/flow/flow-errors.js";
import { FlowStage } from "../support/flow-stage.js";
import { trace } from "../support/trace.js";

describe("the program of a flow", () => {
  it("calls steps, which stand in the log as jobs of the run", async () => {
    const did: string[] = [];
    const order = flow("order", async (s, input: { id: number }) => {
      const user = await s.step("load user", () => ({ id: input.id, name: "Ada" }));
      const [stock, price] = await Promise.all([
        s.step("stock", () => 5),
        s.step("price", { retry: { max: 2 } }, ({ attempt }) => {
          did.push(`price ${attempt}`);
          if (attempt < 2) throw new Error("busy");
          return 7;
        }),
      ]);
      return { user: user.name, total: stock * price };
    });
    const stage = await FlowStage.begin(order, { id: 7 });
    const run = await stage.rest();
    expect(trace(run)).toEqual([
      "start main",
      "start load user",
      "ok load user",
      "start stock",
      "start price",
      "fail price ACTION_FAILED",
      "climb price retry",
      "retry price 1/2 +0",
      "start price",
      "ok stock",
      "ok price",
      "ok main",
      "run completed",
    ]);
    expect(run.job("main").output).toEqual({ kind: "value", value: { user: "Ada", total: 35 } });
    expect(did).toEqual(["price 1", "price 2"]);
  });

  it("catches what a step fails with", async () => {
    const order = flow("order", async (s): Promise<string> => {
      try {
        await s.step("charge", () => {
          throw Object.assign(new Error("declined"), { code: "DECLINED" });
        });
      } catch (error) {
        if (error instanceof StepFailed) return `${error.code} of ${error.step}, attempt ${error.attempts}`;
      }
      return "paid";
    });
    const run = await (await FlowStage.begin(order)).rest();
    expect(run.job("main").output).toEqual({ kind: "value", value: "DECLINED of charge, attempt 1" });
    expect([run.run.status, run.job("charge").handling?.how]).toEqual(["completed", "program"]);
  });
});
