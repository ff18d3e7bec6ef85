import { describe, expect, it } from "vitest";
import { itemsOf } from "./item-limit.js";

describe("the items of a list", () => {
  it.each([
    ["img-0197.jpg", "img-0197.jpg", undefined],
    [42, "0", "42"],
    [{ id: 7, x: 1 }, "0", "7"],
    [{ path: "/data/a", id: "a" }, "0", "a"],
    [{ x: 1 }, "0", '{"x":1}'],
    [["a", 1], "0", '["a",1]'],
    [null, "0", "null"],
    ["x".repeat(65), "0", `${"x".repeat(39)}…`],
  ])("are called by their values in short: %j", (item, key, name) => {
    expect(itemsOf([item])).toEqual([name === undefined ? { key } : { key, name }]);
  });

  it("are none where the output is no list", () => {
    expect(itemsOf({ length: 1 })).toBeNull();
  });
});
