import { describe, expect, it } from "vitest";
import { flow } from "../../src/flow/flow.js";
import { StepFailed } from "../../src/flow/flow-errors.js";
import { testFlow } from "../../src/flow/testing/test-flow.js";

interface Order {
  readonly id: number;
}

const order = flow("order", { unhandled: "hold" }, async (s, { id }: Order) => {
  const cart = await s.step("load", () => ({ id, total: 20 }));
  const charge = await s.step("charge", { retry: { max: 2 } }, async () => `ch_${cart.id}`);
  await s.sleep("a month", "30d");
  const { choice } = await s.ask("release?", { prompt: "Ship it?", choices: ["yes", "no"] });
  if (choice === "no") return null;
  await s.run("label", { exec: "print-label" });
  await s
    .step("mail", () => "sent")
    .catch((error) => {
      if (!(error instanceof StepFailed)) throw error;
    });
  return { charge };
});

const prepared = () =>
  testFlow(order, { input: { id: 7 } })
    .answer("release?", "yes")
    .mock("label", () => "label.pdf");

describe("testFlow", () => {
  it("runs a flow to its end at once, with its month of sleep, its question and its command", async () => {
    const end = await prepared().run();
    expect(end).toMatchObject({ status: "completed", output: { charge: "ch_7" }, error: null, held: [] });
    expect(["load", "charge", "label", "mail"].map(end.calls)).toEqual([1, 1, 1, 1]);
  });

  it("injects failures, and tells the rungs that they took", async () => {
    const end = await prepared().fail("charge", { code: "503", times: 2 }).run();
    expect([end.status, end.calls("charge"), end.climbed("charge")]).toEqual([
      "completed",
      3,
      ["retry", "retry"],
    ]);
  });

  it("tells what is held, and goes on when a person has decided it", async () => {
    const t = prepared().fail("charge", { code: "DECLINED", times: 3 });
    const held = await t.run();
    expect([held.status, held.output, held.held]).toEqual([
      "held",
      undefined,
      [expect.objectContaining({ step: "charge", scope: "root", code: "DECLINED" })],
    ]);
    await t.resolve("charge", "retry");
    const end = await t.run();
    expect([end.status, end.calls("load"), end.calls("charge")]).toEqual(["completed", 1, 4]);
  });

  it("dies after a step, and another process goes on with other code", async () => {
    const renamed = flow("order", { unhandled: "hold" }, async (s) => {
      await s.step("load", () => 1);
      await s.step("charge the card", () => "ch_8");
      return null;
    });
    const end = await prepared()
      .crashAfter("charge")
      .edit(renamed as never)
      .run();
    expect(end.held).toEqual([expect.objectContaining({ step: "main", code: "FLOW_CHANGED" })]);
    expect([end.calls("charge"), end.calls("charge the card")]).toEqual([1, 0]);
  });

  it("refuses to run a command, and says how to mock it; a question without an answer is told", async () => {
    const unmocked = await testFlow(order, { input: { id: 7 } })
      .answer("release?", "yes")
      .run();
    expect(unmocked.held[0]).toMatchObject({
      step: "label",
      code: "UNKNOWN_ACTION",
      message: 'a test runs no command: say t.mock("label", () => OUTPUT)',
    });
    await expect(testFlow(order, { input: { id: 7 } }).run()).rejects.toThrow(
      'release? asks, and the test has no answer: t.answer("release?", CHOICE)',
    );
  });

  it("dies at each commit, and nothing on record is done again", async () => {
    const prepare = (t: ReturnType<typeof prepared>) =>
      void t.answer("release?", "yes").mock("label", () => "label.pdf");
    const { crashes } = await testFlow.everyCrash(order, { input: { id: 7 }, prepare });
    expect(crashes).toBeGreaterThan(10);
  });

  it("finds a program that does not do the same again", async () => {
    let runs = 0;
    const dice = flow("dice", async (s) => {
      runs += 1;
      await s.step("first", () => 1);
      return runs;
    });
    await expect(testFlow.everyCrash(dice)).rejects.toThrow(/the run ended with .* instead of .*commit \d+/);
  });

  it("fails each step for good, and says what becomes of the run", async () => {
    const rows = await testFlow.everyFailure(order, {
      input: { id: 7 },
      prepare: (t) => void t.answer("release?", "yes").mock("label", () => "label.pdf"),
    });
    expect(rows).toEqual([
      { step: "load", end: "held", at: "load", climbed: expect.any(Array) },
      { step: "charge", end: "held", at: "charge", climbed: expect.any(Array) },
      { step: "label", end: "held", at: "label", climbed: expect.any(Array) },
      { step: "mail", end: "caught", at: null, climbed: expect.any(Array) },
    ]);
  });

  it("waits for a function that waits for something real", async () => {
    const slow = flow("slow", async (s) => {
      const first = s.step("read", async () => {
        const { readFile } = await import("node:fs/promises");
        return (await readFile(new URL(import.meta.url))).length > 0;
      });
      return first;
    });
    expect((await testFlow(slow).run()).output).toBe(true);
  });
});
