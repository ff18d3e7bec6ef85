import { describe, expect, it } from "vitest";
import { flow, type Steps } from "../../src/flow/flow.js";
import { FlowFailed } from "../../src/flow/flow-errors.js";
import { RealRuns } from "../support/real-run.js";

const real = new RealRuns();

interface Order {
  readonly id: number;
}

describe("a flow in a program", () => {
  it("gives its output, and with the same key the same run", async () => {
    const did: string[] = [];
    const order = flow("order", async (s: Steps, { id }: Order) => {
      const large = await s.step("load", () => {
        did.push("load");
        return { id, text: "x".repeat(100_000) };
      });
      const { output } = await s.run<{ output: string }>("greet", {
        exec: [
          "node",
          "-e",
          "console.log(JSON.stringify({ output: process.argv[1] }))",
          "{{ not a template }}",
        ],
        outputs: { type: "object" },
      });
      return { length: large.text.length, output };
    });
    const daruma = await real.start();
    const first = await daruma.start(order, { id: 7 }, { key: "order-7" });
    expect(await first.output).toEqual({ length: 100_000, output: "{{ not a template }}" });
    const again = await daruma.start(order, { id: 7 }, { key: "order-7" });
    expect([again.runId, await again.output, did]).toEqual([
      first.runId,
      { length: 100_000, output: "{{ not a template }}" },
      ["load"],
    ]);
    await expect(daruma.start(order, { id: 8 }, { key: "order-7" })).rejects.toMatchObject({
      code: "KEY_REUSED",
    });
  });

  it("rejects its output with what became of the run", async () => {
    const order = flow("order", async (s: Steps) => {
      await s.step("charge", () => {
        throw Object.assign(new Error("declined"), { code: "DECLINED", retryable: false });
      });
    });
    const daruma = await real.start();
    const { output } = await daruma.start(order);
    const error = await output.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(FlowFailed);
    expect(error).toMatchObject({ status: "failed", error: { code: "DECLINED", step_id: "charge" } });
    expect((error as Error).message).toBe("run 1 of order is failed: charge: declined (DECLINED)");
  });

  it("is gone on with only by a program that has it, and decided about from anywhere", async () => {
    const did: string[] = [];
    const order = (bad: boolean) =>
      flow("order", { unhandled: "hold" }, async (s: Steps, { id }: Order) => {
        const sum = await s.step("add", () => {
          did.push("add");
          return id + 1;
        });
        return s.step("charge", () => {
          did.push("charge");
          if (bad) throw new Error("gateway down");
          return `paid ${sum}`;
        });
      });
    const first = await real.start();
    const { outputDir } = first;
    const { runId, result } = await first.start(order(true), { id: 1 }, { key: "order-1" });
    expect((await result).status).toBe("held");
    await first.close();
    const other = await real.start({ outputDir });
    await expect(other.resume(runId)).rejects.toMatchObject({
      code: "NEEDS_PROGRAM",
      message: expect.stringContaining("needs the program with flow:order: "),
    });
    const text = (await other.explain(runId, { full: true })).text;
    expect(text).toMatch(/main called it \(flows\.test\.ts:\d+\)\./);
    const job = (await other.store.readJobs(runId)).find(({ step }) => step === "charge")!;
    const shown = await other.call("get_job", { job_id: job.id, definition: true });
    expect(shown).toMatchObject({ step: "charge", definition: { type: "function" } });
    await other.operate(runId, {
      type: "holds.resolve",
      items: [{ job: job.id, action: "retry", output: null, items: null }],
      reason: "repaired",
      key: null,
    });
    await other.close();
    const again = await real.start({ outputDir, flows: [order(false)] });
    const { output } = await again.start(order(false), { id: 1 }, { key: "order-1" });
    expect([await output, did]).toEqual(["paid 2", ["add", "charge", "charge"]]);
  });
});

describe("many flows", () => {
  it("end in a program that executes one attempt at a time: programs and functions take no room", async () => {
    const one = flow("one", async (s: Steps, n: number) => {
      const twice = await s.step("twice", () => n * 2);
      const { output } = await s.run<{ output: string }>("say", { type: "noop", output: { output: "said" } });
      return `${twice} ${output}`;
    });
    const daruma = await real.start({ maxParallel: 1 });
    const started = await Promise.all(Array.from({ length: 30 }, (_, n) => daruma.start(one, n)));
    expect(await Promise.all(started.map(({ output }) => output))).toEqual(
      Array.from({ length: 30 }, (_, n) => `${n * 2} said`),
    );
  });
});

describe("a flow that is exported", () => {
  it("is read elsewhere as it was, with its calls under the ids of the new run", async () => {
    const failing = flow("failing", async (s: Steps) => {
      const parts = await s.map("parts", ["a", "b"], { key: (part) => part }, (part, each) =>
        each.step("make", () => part),
      );
      await s.step("charge", () => {
        throw new Error(`no card for ${parts}`);
      });
    });
    const first = await real.start();
    const { result } = await first.start(failing);
    await result;
    const document = await first.call("export_run", { run_id: 1 });
    const other = await real.start();
    await (await other.start(flow("before", async () => 1))).result;
    const { run_id: taken } = await other.call("import_run", { document: document as never });
    expect(taken).toBe(2);
    const names = async (daruma: typeof first, run: number): Promise<string[]> =>
      (await daruma.store.readJobs(run)).map(({ step, scope, status }) => `${step} ${scope} ${status}`);
    expect(await names(other, taken)).toEqual(await names(first, 1));
    const { text } = await other.explain(taken, { full: true });
    expect(text).toMatch(/main called it \(flows\.test\.ts:\d+\)\./);
    expect(text).toContain("no card for a,b");
  });
});
