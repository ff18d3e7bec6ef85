import { describe, expect, it } from "vitest";
import type { InputOf } from "../../src/operations/client.js";
import { KEY_LIFE_MS } from "../../src/operations/once.js";
import { OPERATIONS } from "../../src/operations/operations.js";
import { callIn, OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();
const USING = `name: shop
breakers: { api: { failures: 2 } }
steps: { a: { exec: exit 3, uses: [api] } }`;

type Name = (typeof OPERATIONS)[number]["name"];

describe("an operation beside the runs that is repeated with its key", () => {
  it("answers as the first time, whatever has changed since, and does nothing", {
    tags: ["C6"],
  }, async () => {
    await bench.run(USING);
    const breaker = (action: "open" | "close", key: string) =>
      bench.call("control_breaker", { name: "shop/api", action, reason: "maintenance", key });
    const opened = await breaker("open", "k1");
    expect(opened).toEqual({ name: "shop/api", was: "closed", state: "open" });
    await breaker("close", "k2");
    expect(await breaker("open", "k1")).toEqual(opened);
    const { items } = await bench.call("list_breakers", {});
    expect(items.find(({ name }) => name === "shop/api")).toMatchObject({ state: "closed" });
  });

  it("is refused if it asks for something else, and then changes nothing", async () => {
    await bench.run(USING);
    const ask = (action: "open" | "close") =>
      bench.call("control_breaker", { name: "shop/api", action, reason: "r", key: "k" });
    await ask("open");
    expect(await refusalOf(ask("close"))).toBe("KEY_REUSED");
    const { items } = await bench.call("list_breakers", {});
    expect(items.find(({ name }) => name === "shop/api")).toMatchObject({ state: "open" });
  });

  it("is judged anew if the first was refused", async () => {
    const save = (based_on: number) =>
      bench.call("save_draft", { name: "d", source: "steps: {}", based_on, key: "k" });
    await bench.call("save_draft", { name: "d", source: "steps: {}" });
    expect(await refusalOf(save(0))).toBe("DRAFT_CONFLICT");
    await bench.call("delete_draft", { name: "d", key: "gone" });
    expect(await save(0)).toMatchObject({ name: "d", revision: 1 });
    expect(await save(0)).toMatchObject({ name: "d", revision: 1 });
    expect(await bench.call("delete_draft", { name: "d", key: "gone" })).toEqual({ name: "d" });
    expect(await bench.call("get_draft", { name: "d" })).toMatchObject({ revision: 1 });
  });

  it("starts one campaign, also of two who ask at once, and after a process died before it answered", async () => {
    const run = await bench.run("unhandled: hold\nsteps: { a: { exec: exit 3 } }");
    const request: InputOf<"start_campaign"> = { job_ids: [run.jobs[0]!.id], reason: "again", key: "k" };
    const both = await Promise.all([
      bench.call("start_campaign", request),
      bench.call("start_campaign", request),
    ]);
    expect(both[0]).toEqual(both[1]);
    const [{ campaign }] = both;
    expect(campaign).not.toBeNull();
    // The answer is lost, the campaign is not.
    await bench.context.store.forgetCommands(0, Number.MAX_SAFE_INTEGER);
    expect(await bench.call("start_campaign", request)).toMatchObject({ campaign });
    expect((await bench.call("list_campaigns", {})).items).toHaveLength(1);
  });

  it("does not use its key up in a dry run", async () => {
    const run = await bench.run("unhandled: hold\nsteps: { a: { exec: exit 3 } }");
    const request = { job_ids: [run.jobs[0]!.id], reason: "again", key: "dry" };
    expect(await bench.call("start_campaign", { ...request, dry_run: true })).toMatchObject({
      campaign: null,
    });
    expect((await bench.call("start_campaign", request)).campaign).not.toBeNull();
  });

  it("is forgotten after a week", async () => {
    let now = bench.context.now();
    const context = { ...bench.context, now: () => now };
    const save = () => callIn(context, "save_draft", { name: "w", source: "steps: {}", key: "week" });
    await save();
    expect(await save()).toMatchObject({ revision: 1 });
    now += KEY_LIFE_MS + 1;
    expect(await save()).toMatchObject({ revision: 2 });
  });

  it("may have the same key as another operation", async () => {
    await bench.call("save_draft", { name: "same", source: "steps: {}", key: "shared" });
    expect(await bench.call("delete_draft", { name: "same", key: "shared" })).toEqual({ name: "same" });
  });
});

it("every operation that keeps its answer changes something and has a key", () => {
  const keeping = OPERATIONS.filter(({ idempotent }) => idempotent === true);
  expect(keeping.length).toBeGreaterThan(8);
  for (const { name, effect, input } of keeping) {
    expect(effect, name as Name).not.toBe("reads");
    expect(Object.keys(input.shape), name).toContain("key");
  }
});
