import { describe, expect, it } from "vitest";
import type { Json } from "../../core/text/json.js";
import { defineWorkflow } from "../builder.js";
import { loadDefinition } from "../load.js";
import { resolveInputs } from "./validate-inputs.js";

const definition = defineWorkflow({
  name: "x",
  inputs: {
    text: { default: "none" },
    count: { type: "number", required: false },
    flag: { default: false },
    list: { type: "array", required: false },
    map: { type: "object", required: false },
    free: { type: "any", required: false },
    target: "string",
  },
  steps: { a: { exec: "x" } },
});

const resolve = (given: Record<string, Json>) => resolveInputs(definition, { target: "t", ...given });

describe("inputs of a run", () => {
  it("have their defaults, and null where there is none", () => {
    expect(resolve({})).toEqual({
      ok: true,
      inputs: { text: "none", count: null, flag: false, list: null, map: null, free: null, target: "t" },
    });
  });

  it.each([
    ["count", "12.5", 12.5],
    ["count", "-1e3", -1000],
    ["count", 7, 7],
    ["flag", "true", true],
    ["flag", "false", false],
    ["list", "[1, 2]", [1, 2]],
    ["map", '{"a": 1}', { a: 1 }],
    ["text", "12", "12"],
    ["free", "12", "12"],
    ["free", [1], [1]],
  ])("are brought to their type: %s from %j", (name, given, expected) => {
    const result = resolve({ [name]: given as Json });
    expect(result.ok && result.inputs[name]).toEqual(expected);
  });

  it.each([
    ["count", "twelve"],
    ["count", ""],
    ["count", "Infinity"],
    ["count", "0x10"],
    ["count", null],
    ["flag", "yes"],
    ["list", "{}"],
    ["list", "[1"],
    ["map", "[]"],
    ["map", "null"],
    ["text", 5],
  ])("are refused where they do not fit: %s from %j", (name, given) => {
    expect(resolve({ [name]: given })).toMatchObject({
      ok: false,
      problems: [{ code: "INVALID_INPUT", input: name }],
    });
  });

  it("show all problems at once: unknown with a suggestion, missing, wrong", () => {
    const result = resolveInputs(definition, { coutn: "1", flag: "maybe", toString: "x" });
    expect(!result.ok && result.problems.map((problem) => problem.message)).toEqual([
      "unknown input `coutn`, did you mean `count`?",
      "unknown input `toString`",
      "the input `flag` must be true or false, found `maybe`",
      "the input `target` is missing",
    ]);
  });
});

describe("an input with an enum", () => {
  const read = (input: string) =>
    loadDefinition(`inputs: { target: ${input} }\nsteps: { a: { exec: x } }\n`, {
      file: "x.yaml",
      checkExpression: () => null,
      checkTemplate: () => null,
    });

  it("takes its values only", () => {
    const loaded = read("{ type: string, enum: [staging, production] }");
    if (!loaded.ok) throw new Error("not loaded");
    expect(resolveInputs(loaded.definition, { target: "staging" })).toMatchObject({ ok: true });
    expect(resolveInputs(loaded.definition, { target: "stagin" })).toMatchObject({
      problems: [{ message: 'the input `target` must be one of "staging", "production"' }],
    });
  });

  it("has values of its type, and a default among them", () => {
    expect(read("{ type: string, enum: [1] }")).toMatchObject({
      problems: [{ message: "`enum` has a value that is not a string" }],
    });
    expect(read("{ default: x, enum: [y] }")).toMatchObject({
      problems: [{ message: "the default is not one of the values of `enum`" }],
    });
  });
});
