import { expect, test } from "vitest";
import { z } from "zod";
import type { Shape } from "../../core/text/shape.js";
import { zodOf } from "./zod-of.js";

const jsonSchemaOf = (shape: Shape) => {
  const { $schema: _, ...rest } = z.toJSONSchema(zodOf(shape, { others: "kept" }), { io: "input" });
  return rest;
};

test("a bound that is infinite is none: JSON has no word for it", () => {
  const atLeast0: Shape<number> = { kind: "number", whole: false, min: 0, max: Infinity };
  expect(jsonSchemaOf(atLeast0)).toEqual({ type: "number", minimum: 0 });
  expect(jsonSchemaOf({ ...atLeast0, max: 5 })).toEqual({ type: "number", minimum: 0, maximum: 5 });
  expect(zodOf(atLeast0, { others: "kept" }).safeParse(-1).success).toBe(false);
});
