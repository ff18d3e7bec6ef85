import { expect, it } from "vitest";
import { type ConditionPart, formOf, joined, negated, withoutPart, writtenOf } from "./condition.js";

it("a condition is edited in a form and written as the file has it", () => {
  const when = {
    type: "comparison",
    operator: "==",
    left: { type: "field", path: "error.class" },
    right: { type: "literal", value: "resource" },
  };
  const form = formOf(when);
  expect(form).toEqual({ kind: "comparison", field: "error.class", operator: "==", value: "resource" });
  expect(writtenOf(form)).toEqual({
    ...{ type: "comparison", left: "error.class", operator: "==", right: "resource" },
  });
  expect(
    writtenOf({ kind: "comparison", field: "error.code", operator: "==", value: "error.x" }),
  ).toMatchObject({
    right: { type: "literal", value: "error.x" },
  });
  expect(writtenOf({ kind: "comparison", field: "outputs.a.n", operator: ">", value: "3" })).toMatchObject({
    right: 3,
  });
  expect(formOf({ type: "expression", code: "a" })).toEqual({ kind: "code", code: "a" });
  expect(formOf(null)).toEqual({ kind: "none" });
  expect([writtenOf({ kind: "none" }), writtenOf({ kind: "code", code: " " })]).toEqual([null, undefined]);
});

type Group = Extract<ConditionPart, { kind: "and" | "or" }>;

const isClass = (value: string) => ({
  type: "comparison",
  operator: "==",
  left: { type: "field", path: "error.class" },
  right: { type: "literal", value },
});

it("and, or and not are edited in forms within forms; what has no form stays as it is", () => {
  const when = {
    type: "or",
    conditions: [
      {
        type: "and",
        conditions: [isClass("resource"), { type: "in_set", field: "error.code", values: [1, 2] }],
      },
      { type: "not", condition: { type: "expression", code: "inputs.dry" } },
    ],
  };
  const form = formOf(when) as Group;
  expect(writtenOf(form)).toEqual({
    type: "or",
    conditions: [
      {
        type: "and",
        conditions: [
          { type: "comparison", left: "error.class", operator: "==", right: "resource" },
          { type: "in_set", field: "error.code", values: [1, 2] },
        ],
      },
      { type: "not", condition: "inputs.dry" },
    ],
  });
  expect(withoutPart(form, 0)).toEqual({ kind: "not", part: { kind: "code", code: "inputs.dry" } });
});

it("a condition gets another beside it, which must be whole before it is written", () => {
  const first = formOf(isClass("resource")) as ConditionPart;
  const both = joined(first, "and") as Group;
  expect([both.kind, both.parts.length, writtenOf(both)]).toEqual(["and", 2, undefined]);
  expect(joined(both, "and")).toMatchObject({ kind: "and", parts: [{}, {}, {}] });
  expect(joined(both, "or")).toMatchObject({ kind: "or", parts: [{ kind: "and" }, {}] });
  expect(withoutPart(both, 1)).toEqual(first);
  expect([negated(first).kind, negated(negated(first))]).toEqual(["not", first]);
});

it("a comparison of two fields keeps both as fields", () => {
  const field = (path: string) => ({ type: "field", path });
  const when = { type: "comparison", operator: "<", left: field("outputs.a.n"), right: field("inputs.max") };
  expect(writtenOf(formOf(when))).toEqual({
    ...{ type: "comparison", left: "outputs.a.n", operator: "<", right: "inputs.max" },
  });
});
