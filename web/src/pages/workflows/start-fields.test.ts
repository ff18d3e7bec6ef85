import { describe, expect, it } from "vitest";
import { fieldsOf, givenInputs, labelsOf } from "./start-fields.js";

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
