import { describe, expect, it } from "vitest";
import { calledSteps } from "../../src/file/draw/called-steps.js";
import { draw } from "../../src/file/draw/drawing.js";
import { toMermaid } from "../../src/file/draw/graph.js";
import { type AnyFlow, type FlowOptions, flow, type Steps } from "../../src/flow/flow.js";
import { FlowStage } from "../support/flow-stage.js";

const KEYED = { key: (each: string) => each };
const ok = (): string => "ok";

async function pictured(program: (s: Steps) => Promise<unknown>, options: FlowOptions = {}) {
  const order = flow("order", options as never, program as never) as AnyFlow;
  const stage = await FlowStage.begin(order);
  await stage.rest();
  const calls = calledSteps(await stage.state())!;
  const { nodes, edges } = draw(calls.definition);
  const step = new Map(nodes.map((node) => [node.name, node.step]));
  return {
    calls,
    text: toMermaid(calls.definition),
    steps: nodes.map((node) => node.step),
    edges: edges.map(({ from, to, kind }) => `${step.get(from)} ${kind} ${step.get(to)}`),
  };
}

describe("the picture of what a program has called", () => {
  it("leads from each step to those that were called because of it, in the order of the calls", async () => {
    const { steps, edges } = await pictured(async (s) => {
      await s.step("load", ok);
      await Promise.all([
        s.step("charge", ok),
        (async () => {
          await s.step("pick", ok);
          await s.step("pack", ok);
        })(),
      ]);
      await s.step("ship", ok);
    });
    expect(steps).toEqual(["main", "load", "charge", "pick", "pack", "ship"]);
    expect(edges).toEqual([
      "main depends load",
      "load depends charge",
      "load depends pick",
      "charge depends pack",
      "pick depends pack",
      "pack depends ship",
    ]);
  });

  it("has repairs at the side, and each round of a loop", async () => {
    let fails = 1;
    const { steps, edges, text } = await pictured(async (s) => {
      const flaky = (): string => {
        fails -= 1;
        if (fails >= 0) throw new Error("not yet");
        return "ok";
      };
      await s.step("poll", { repair: { reconnect: ok } }, flaky);
      await s.step("poll", ok);
    });
    expect(steps).toEqual(["main", "poll", "poll.reconnect", "poll#2"]);
    expect(edges).toEqual(["main depends poll", "poll on_fail poll.reconnect", "poll depends poll#2"]);
    expect(text).toContain('n1 -.->|"on fail: run"| n2');
    expect(text).toContain("stroke-dasharray");
  });

  it("draws the items of a map once, behind it, and tells steps of one name in two maps apart", async () => {
    const { calls, steps, edges } = await pictured(async (s) => {
      const items = ["a", "b", "c"];
      await s.map("orders", items, KEYED, async (_, item) => {
        await item.step("pack", ok);
        await item.step("label", ok);
      });
      await s.map("returns", items, KEYED, (_, item) => item.step("pack", ok));
      await s.step("mail", ok);
    });
    expect(steps).toEqual(["main", "orders", "pack", "label", "returns", "returns/pack", "mail"]);
    expect(edges).toEqual([
      "main depends orders",
      "orders depends pack",
      "pack depends label",
      "label depends returns",
      "returns depends returns/pack",
      "returns/pack depends mail",
    ]);
    expect(calls.named).toEqual(new Map([["returns/pack", "pack"]]));
    expect([...calls.drawnAs.values()].filter((id) => id === "returns/pack")).toHaveLength(3);
  });

  it("draws what was not awaited, and only the nearest of what was", async () => {
    const { edges } = await pictured(async (s) => {
      await Promise.all(["a", "b", "c"].map((name) => s.step(name, ok)));
      await s.step("d", ok);
      await Promise.race([s.step("fast", ok), s.sleep("slow", "1h")]);
      await s.step("e", ok);
    });
    expect(edges.filter((edge) => edge.startsWith("main"))).toHaveLength(3);
    expect(edges.filter((edge) => edge.endsWith(" d"))).toEqual([
      "a depends d",
      "b depends d",
      "c depends d",
    ]);
    expect(edges.slice(-3)).toEqual(["d depends fast", "d depends slow", "fast depends e"]);
  });
});
