import { expect, it } from "vitest";
import { formOf, writtenOf } from "./condition.js";

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
  expect(formOf({ type: "and", conditions: [] })).toEqual({ kind: "other" });
  expect(formOf(null)).toEqual({ kind: "none" });
  expect([writtenOf({ kind: "none" }), writtenOf({ kind: "code", code: " " })]).toEqual([null, undefined]);
});
