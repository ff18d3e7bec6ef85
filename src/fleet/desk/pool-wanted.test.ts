import { describe, expect, it } from "vitest";
import { NEEDS, PoolBench, settle } from "../../../test/support/pool-bench.js";

const bench = new PoolBench();
const KEY = "secret API_KEY";
const needs = { ...NEEDS, wants: [KEY, "program git"] };
const place = () => bench.pool.place(needs);
const REGISTERED = { instance: "aaaaaaaa-0000" };

/** A worker that answers what it is asked. */
async function answerAs(id: string, has: readonly string[]): Promise<readonly string[]> {
  const { asks = [] } = await bench.claim(id);
  void bench.answer(id, Object.fromEntries(asks.map((wanted) => [wanted, has.includes(wanted)])));
  await settle();
  return asks;
}

describe("a step that wants secrets or programs", () => {
  it("is given to nobody before the worker has said that it has them; each is asked for once", async () => {
    const id = bench.register();
    let told = 0;
    bench.pool.onRoom(() => {
      told += 1;
    });
    expect(place()).toBeNull();
    expect(place()).toBeNull();
    expect(await answerAs(id, [KEY, "program git"])).toEqual([KEY, "program git"]);
    expect(told).toBeGreaterThan(0);
    expect(place()).toMatchObject({ worker: "w1/aaaaaaaa" });
  });

  it("goes to the worker that has them, and waits where nobody does", async () => {
    const poor = bench.register();
    expect(place()).toBeNull();
    await answerAs(poor, ["program git"]);
    expect(place()).toBeNull();
    expect(bench.pool.whyNot(needs).text).toBe("no connected worker has the secret API_KEY");
    expect(bench.pool.place(NEEDS)).toMatchObject({ worker: "w1/aaaaaaaa" });
    const rich = bench.register({ name: "w2", instance: "bbbbbbbb-0000" });
    expect(place()).toBeNull();
    await answerAs(rich, [KEY, "program git"]);
    expect(place()).toMatchObject({ worker: "w2/bbbbbbbb" });
  });

  it("is not decided by what a worker says unasked", async () => {
    const id = bench.register();
    void bench.answer(id, { [KEY]: true, "program git": true });
    await settle();
    expect(place()).toBeNull();
  });

  it("is asked for again after the worker has registered again, since the question may have been lost", async () => {
    const id = bench.register();
    expect(place()).toBeNull();
    await bench.claim(id);
    bench.register(REGISTERED);
    expect(await answerAs(id, [KEY, "program git"])).toEqual([KEY, "program git"]);
    expect(place()).toMatchObject({ worker: "w1/aaaaaaaa" });
  });

  it("does not keep a worker that never answers busy with the same question", async () => {
    const id = bench.register();
    expect(place()).toBeNull();
    await bench.claim(id);
    let answered = false;
    void bench.claim(id).then(() => {
      answered = true;
    });
    expect(place()).toBeNull();
    await settle();
    expect(answered).toBe(false);
  });
});
