import { describe, expect, it } from "vitest";
import { MAX_JSON_LEVELS, NotJson, toJson } from "./json.js";

function refusal(value: unknown): string {
  try {
    toJson(value, "inputs");
    return "not refused";
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    return error.message;
  }
}

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

const cycle: { list: unknown[] } = { list: [] };
cycle.list.push({ back: cycle });

describe("a value for the log", () => {
  it("is copied as JSON holds it, so that its owner may go on changing the original", () => {
    const given = { a: [1, "two", null, { b: true }], c: -0.5, "": "x", ["__proto__"]: { d: 1 } };
    const copy = toJson(given, "inputs");
    expect(JSON.stringify(copy)).toBe(JSON.stringify(given));
    expect(Object.keys(copy as object)).toContain("__proto__");
    (given.a[3] as { b: boolean }).b = false;
    expect(copy).toMatchObject({ a: [1, "two", null, { b: true }] });
  });

  it("may hold the same object twice, as long as it does not hold itself", () => {
    const shared = { a: 1 };
    expect(toJson({ one: shared, two: [shared] }, "inputs")).toEqual({ one: { a: 1 }, two: [{ a: 1 }] });
  });

  it("leaves a property that is undefined out", () => {
    expect(toJson({ a: undefined, b: { c: undefined } }, "inputs")).toStrictEqual({ b: {} });
  });

  it.each([
    [{ c: Number.NaN }, "inputs.c is NaN, which JSON cannot hold"],
    [{ list: [1, Number.POSITIVE_INFINITY] }, "inputs.list[1] is Infinity, which JSON cannot hold"],
    [undefined, "inputs is undefined, which JSON cannot hold"],
    [{ list: [undefined] }, "inputs.list[0] is undefined, which JSON cannot hold"],
    [{ list: new Array(2) }, "inputs.list[0] is undefined, which JSON cannot hold"],
    [{ "a b": { call: () => 1 } }, 'inputs["a b"].call is a function, which JSON cannot hold'],
    [{ s: Symbol("s") }, "inputs.s is a symbol, which JSON cannot hold"],
    [{ big: 1n }, "inputs.big is a bigint, which JSON cannot hold"],
    [{ at: new Date(0) }, "inputs.at is an object of the class Date, which JSON cannot hold"],
    [{ m: new Map() }, "inputs.m is an object of the class Map, which JSON cannot hold"],
    [{ bytes: Buffer.from("x") }, "inputs.bytes is an object of the class Buffer, which JSON cannot hold"],
    [cycle, "inputs.list[0].back is a cycle, which JSON cannot hold"],
  ])("%#: is refused with the place of what would be lost", (value, message) => {
    expect(refusal(value)).toBe(message);
  });

  it("may be as deep as anybody nests data, and is refused beyond", () => {
    expect(refusal(nested(MAX_JSON_LEVELS))).toBe("not refused");
    expect(refusal(nested(100_000))).toMatch(/is more than 1000 levels deep, which JSON cannot hold$/);
  });
});
