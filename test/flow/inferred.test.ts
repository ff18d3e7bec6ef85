import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { type AnyFlow, type Flow, flow, type Steps } from "../../src/flow/flow.js";
import type { FlowHandle } from "../../src/flow/start-flow.js";
import type { Daruma } from "../../src/host/daruma.js";

declare const daruma: Daruma;
/** Only its types are looked at. */
const unused = (_check: () => unknown): void => {};

describe("the types of flows", () => {
  it("infer what a program takes and returns", () => {
    const plain = flow("plain", async (s) => s.step("load", () => 5));
    expectTypeOf(plain).toEqualTypeOf<Flow<void, number>>();
    const order = flow("order", async (_s: Steps, input: { id: number }) => `order ${input.id}`);
    expectTypeOf(order).toEqualTypeOf<Flow<{ id: number }, string>>();
    expectTypeOf(order).toExtend<AnyFlow>();
    const held = flow("held", { unhandled: "hold" }, async (_s, input: string[]) => input.length);
    expectTypeOf(held).toEqualTypeOf<Flow<string[], number>>();
  });

  it("come from schemas: what a start is given, and what the program gets", () => {
    const input = z.object({ id: z.number(), at: z.string().transform((text) => new Date(text)) });
    const order = flow("order", { input }, async (_s, given) => {
      expectTypeOf(given).toEqualTypeOf<{ id: number; at: Date }>();
      return given.id;
    });
    expectTypeOf(order).toEqualTypeOf<Flow<{ id: number; at: string }, number>>();
  });

  it("say what a start wants and gives", () => {
    const plain = flow("plain", async () => 5);
    const order = flow("order", async (_s: Steps, input: { id: number }) => input.id);
    unused(async () => {
      expectTypeOf(await daruma.start(plain)).toEqualTypeOf<FlowHandle<number>>();
      expectTypeOf(await daruma.start(order, { id: 7 }, { key: "order-7" })).toEqualTypeOf<
        FlowHandle<number>
      >();
      // @ts-expect-error An input is missing.
      await daruma.start(order);
      // @ts-expect-error It has another type.
      await daruma.start(order, { id: "7" });
      // @ts-expect-error There is none.
      await daruma.start(plain, { id: 7 });
    });
  });

  it("follow the calls", () => {
    flow("order", async (s) => {
      expectTypeOf(s.step("load", () => ({ name: "Ada" }))).toEqualTypeOf<Promise<{ name: string }>>();
      expectTypeOf(s.step(["load", 7], { retry: 3 }, async () => 1)).toEqualTypeOf<Promise<number>>();
      const asked = s.ask("release?", { prompt: "Release?", choices: ["yes", "no"], otherwise: "no" });
      expectTypeOf((await asked).choice).toEqualTypeOf<"yes" | "no">();
      expectTypeOf((await s.ask("ok?", { prompt: "Ok?" })).choice).toEqualTypeOf<"approve" | "reject">();
      // @ts-expect-error It is none of the choices.
      unused(() => s.ask("release?", { prompt: "Release?", choices: ["yes"], otherwise: "no" }));
      const mapped = s.map("ship", [1, 2], { key: String }, async (item, each, index) =>
        each.step("pack", () => item + index),
      );
      expectTypeOf(mapped).toEqualTypeOf<Promise<number[]>>();
      const settled = s.mapSettled("ship", ["a"], { key: (item) => item }, async (item) => item);
      expectTypeOf(settled).toEqualTypeOf<Promise<PromiseSettledResult<string>[]>>();
      expectTypeOf(s.run<{ id: number }>("build", { exec: "make" })).toEqualTypeOf<Promise<{ id: number }>>();
      // @ts-expect-error A program leads on by itself.
      unused(() => s.run("build", { exec: "make", depends_on: ["load"] }));
      // @ts-expect-error There is no such key.
      unused(() => s.step("load", { retries: 3 }, () => 1));
      const checked = s.step("check", { check: z.object({ id: z.number() }) }, () => ({ id: 1 }));
      expectTypeOf(checked).toEqualTypeOf<Promise<{ id: number }>>();
    });
  });
});
