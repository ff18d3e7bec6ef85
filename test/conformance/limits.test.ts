import { describe, expect, it } from "vitest";
import type { Json } from "../../src/core/text/json.js";
import { trial } from "../support/harness.js";
import { Stage } from "../support/stage.js";

const items = (count: number): Json => Array.from({ length: count }, (_, index) => index);

const LIST = `steps:
  list: { exec: make, forEach: true }
  work: { exec: make, depends_on: list }
  sum: { exec: make, depends_on: work, fanout: reduce }`;

describe("max_items", () => {
  it("a longer list fails its step before any item is begun, and climbs the ladder like any failure", async () => {
    const text = LIST.replace("true }", "true, on_fail: { retry: { max: 2 }, run: [cut] } }");
    const run = await trial(`max_items: 3\n${text}\n  cut: { exec: make }`, {
      list: [{ output: items(4) }, { output: items(3) }],
    });
    expect(run.order).toEqual(["list", "cut", "list", "work", "work", "work", "sum"]);
    expect(run.run.status).toBe("completed");
    expect(run.events("attempt.failed")).toMatchObject([
      { error: { code: "TOO_MANY_ITEMS", class: "deterministic_contract" } },
    ]);
    expect(run.events("scopes.opened")).toHaveLength(1);
  });

  it("is 100,000 where the file says nothing", async () => {
    const run = await trial(LIST, { list: [{ output: items(100_001) }] });
    expect(run.order).toEqual(["list"]);
    expect(run.run.error).toMatchObject({
      code: "TOO_MANY_ITEMS",
      message: "list: the list has 100001 items; max_items allows 100000 in a run",
    });
  });

  it("counts lists within lists together", async () => {
    const run = await trial(
      `max_items: 7
steps:
  outer: { exec: make, forEach: true }
  inner: { exec: make, depends_on: outer, forEach: true }
  work: { exec: make, depends_on: inner }`,
      { outer: [{ output: items(2) }], inner: () => ({ output: items(3) }) },
    );
    expect(run.order).toEqual(["outer", "inner", "inner", "work", "work", "work"]);
    expect(run.job("inner", "root/outer[1]").error).toMatchObject({
      code: "TOO_MANY_ITEMS",
      message: "the list has 3 items, and the run has 5 items already; max_items allows 7 in a run",
    });
  });

  it("counts a new visit's items in place of the old ones", async () => {
    const run = await trial(
      `max_items: 3
steps:
  list: { exec: make, forEach: true }
  work: { exec: make, depends_on: list }
  sum: { exec: make, depends_on: work, fanout: reduce, on_fail: { goto: list } }`,
      { list: [{ output: items(3) }, { output: items(3) }], sum: ["fail", "ok"] },
    );
    expect(run.run.status).toBe("completed");
    expect(run.events("scopes.opened")).toHaveLength(2);
  });

  it("holds for an output that a person gives, too", async () => {
    const stage = await Stage.begin(`unhandled: hold\nmax_items: 3\n${LIST}`, { list: ["fail"] });
    await stage.rest();
    const complete = async (count: number) =>
      stage.operate({
        type: "holds.resolve",
        items: [
          {
            job: await stage.id("list"),
            action: "complete",
            output: { kind: "value", value: items(count) },
            items: Array.from({ length: count }, (_, index) => ({ key: String(index) })),
          },
        ],
      });
    expect(await complete(4)).toBe("TOO_MANY_ITEMS");
    expect(await complete(3)).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(run.order.filter((step) => step === "work")).toHaveLength(3);
  });
});
