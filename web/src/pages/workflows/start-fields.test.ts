import { describe, expect, it } from "vitest";
import { fieldsOf, givenInputs, hintOf, labelsOf } from "./start-fields.js";

describe("the form that starts a run", () => {
  it("has a field for every input, with its default and its choices", () => {
    const plain = { required: false, default: null, description: null };
    expect(
      fieldsOf({
        count: { ...plain, type: "number", default: 3 },
        dry: { ...plain, type: "boolean" },
        target: { ...plain, type: "string", required: true, enum: ["staging", "production"] },
        more: { ...plain, type: "object", default: { a: 1 } },
      }).map(({ name, fallback, choices }) => [name, fallback, choices]),
    ).toEqual([
      ["count", "3", null],
      ["dry", null, ["true", "false"]],
      ["target", null, ["staging", "production"]],
      ["more", '{"a":1}', null],
    ]);
  });

  it("sends what was typed", () => {
    expect(givenInputs({ a: "1", b: "" })).toEqual({ a: "1" });
  });

  it("reads labels, and says what is none", () => {
    expect(labelsOf("team=core, tier = gold\nurl=a=b,")).toEqual({ team: "core", tier: "gold", url: "a=b" });
    expect(labelsOf("team")).toEqual({ wrong: "write key=value instead of team" });
  });
});

it("says what is wanted of an input, and what is taken where nothing is given", () => {
  const field = {
    name: "v",
    type: "string",
    required: false,
    description: null,
    fallback: null,
    choices: null,
  } as const;
  expect(hintOf(field)).toBe("text");
  expect(hintOf({ ...field, fallback: "2.4.0" })).toBe("text; 2.4.0 if left empty");
  expect(hintOf({ ...field, fallback: "2.4.0", description: "What to ship." })).toBe(
    "What to ship; 2.4.0 if left empty",
  );
  expect(hintOf({ ...field, fallback: "x".repeat(80) })).toBe("text; its default if left empty");
  expect(hintOf({ ...field, fallback: "a", choices: ["a", "b"] })).toBe("");
});
