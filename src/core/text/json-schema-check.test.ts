import { describe, expect, it } from "vitest";
import type { Json } from "./json.js";
import { checkJson, unsupportedKeywords } from "./json-schema-check.js";

const paths = (schema: Json, value: Json) => checkJson(schema, value).map(({ path }) => path);

describe("checkJson", () => {
  it.each<[Json, Json[], Json[]]>([
    [{ type: "integer" }, [1, -2, 3.0], [1.5, "1", null]],
    [{ type: ["string", "null"] }, ["", null], [0, false]],
    [{ type: "object" }, [{}], [[], null]],
    [{ enum: ["a", { b: [1] }] }, ["a", { b: [1] }], ["b", { b: [2] }, { b: [1], c: 1 }]],
    [{ const: null }, [null], [0, false]],
    [{ minimum: 1, maximum: 3 }, [1, 3, "text"], [0.9, 3.1]],
    [{ minLength: 2, maxLength: 3 }, ["ab", "😀😀😀", 7], ["a", "abcd"]],
    [{ pattern: "^a+$" }, ["aa", 1], ["b", ""]],
    [{ minItems: 1, maxItems: 2 }, [[1], [1, 2], {}], [[], [1, 2, 3]]],
    [{ items: { type: "number" } }, [[], [1, 2], "x"], [[1, "2"]]],
    [{ required: ["a"] }, [{ a: null }, []], [{ b: 1 }, {}]],
    [{ properties: { a: { type: "number" } } }, [{ a: 1 }, { b: "x" }], [{ a: "1" }]],
    [{ properties: { a: true }, additionalProperties: false }, [{ a: 1 }, {}], [{ a: 1, b: 2 }]],
    [{ additionalProperties: { type: "number" } }, [{ a: 1 }], [{ a: "1" }]],
    [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
    [{ anyOf: [{ type: "string" }, { minimum: 5 }] }, ["x", 5], [4]],
    [{ oneOf: [{ type: "integer" }, { minimum: 5 }] }, [1, 5.5], [5, 1.5]],
    [true, [1, null], []],
    [{}, [1, null], []],
    [false, [], [1, null]],
  ])("%j", (schema, fitting, others) => {
    for (const value of fitting) expect(checkJson(schema, value)).toEqual([]);
    for (const value of others) expect(checkJson(schema, value)).not.toEqual([]);
  });

  it("refuses a text that its patterns cannot be held against within bounds, also inside anyOf", () => {
    const text = Array.from({ length: 100_000 }, (_, n) => (((n * n) % 7919) % 2 === 0 ? "a" : "b")).join("");
    const costly = { pattern: "[ab]*a[ab]{400}X" };
    const told = [{ path: "$", message: expect.stringMatching(/^is too much for its schema/) }];
    expect(checkJson(costly, text)).toEqual(told);
    expect(checkJson({ items: { anyOf: [costly, true] } }, [text])).toEqual(told);
    expect(checkJson(costly, `${"a".repeat(401)}X`)).toEqual([]);
  });

  it("refuses a value that takes too much work, by a count that is the same on every machine", () => {
    const list = (length: number): Json => Array.from({ length }, () => 1);
    const digit = { type: "array", items: { type: "integer", minimum: 0, maximum: 9 } };
    const told = [{ path: "$", message: expect.stringMatching(/^is too much for its schema/) }];
    expect(checkJson(digit, list(400_000))).toEqual([]);
    expect(checkJson(digit, list(600_000))).toEqual(told);
    const many = (schema: Json): Json => ({ allOf: Array.from({ length: 300 }, () => schema) });
    expect(checkJson(many({ items: true }), list(100_000))).toEqual(told);
    expect(checkJson(many({ minLength: 1 }), "x".repeat(100_000))).toEqual(told);
    expect(checkJson({ anyOf: [many({ items: digit.items }), true] }, list(10_000))).toEqual(told);
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`k${n}`, n]));
    expect(checkJson(many({ additionalProperties: true }), wide)).toEqual(told);
    expect(checkJson({ additionalProperties: { type: "integer" } }, wide)).toEqual([]);
  });

  it("says where, and all of it", () => {
    const schema = {
      type: "object",
      required: ["id"],
      properties: { list: { items: { type: "object", properties: { "a b": { type: "string" } } } } },
    };
    expect(paths(schema, { list: [{}, { "a b": 1 }, 2] })).toEqual(["$", '$.list[1]["a b"]', "$.list[2]"]);
    expect(checkJson(schema, { id: 1, list: [1] })).toEqual([
      { path: "$.list[0]", message: "must be object, is number" },
    ]);
  });

  it("does not take inherited names for members", () => {
    expect(paths({ required: ["constructor"] }, {})).toEqual(["$"]);
    expect(paths({ additionalProperties: false }, JSON.parse('{"toString": 1}'))).toEqual(["$.toString"]);
  });

  it("stops at a hundred messages", () => {
    expect(
      checkJson(
        { items: false },
        Array.from({ length: 5_000 }, () => 1),
      ),
    ).toHaveLength(100);
  });
});

describe("unsupportedKeywords", () => {
  it("finds nothing in a schema it honours, annotations included", () => {
    const schema = {
      $schema: "x",
      title: "t",
      type: "object",
      properties: { $ref: { type: "string", pattern: "^a$" } },
      additionalProperties: false,
      required: ["a"],
    };
    expect(unsupportedKeywords(schema)).toEqual([]);
  });

  it("names every keyword it would have to ignore, at any depth", () => {
    const schema = {
      $ref: "#",
      properties: { a: { format: "email" } },
      items: { uniqueItems: true },
      anyOf: [{ not: {} }],
      additionalProperties: { if: {} },
    };
    expect(unsupportedKeywords(schema).map(({ path }) => path)).toEqual([
      '$["$ref"]',
      "$.properties.a.format",
      "$.items.uniqueItems",
      "$.anyOf[0].not",
      "$.additionalProperties.if",
    ]);
  });

  it.each<Json>([
    { type: "text" },
    { type: [] },
    { minimum: "1" },
    { minLength: -1 },
    { maxItems: 1.5 },
    { required: "a" },
    { required: [1] },
    { properties: [] },
    { enum: "a" },
    { anyOf: [] },
    { pattern: "(?=a)" },
    { pattern: "(" },
    { pattern: 1 },
    { items: 5 },
    [],
    "string",
  ])("refuses %j", (schema) => {
    expect(unsupportedKeywords(schema)).toHaveLength(1);
  });
});
