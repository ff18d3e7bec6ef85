import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ComparisonOperator, Condition, Operand } from "../model/definition.js";
import type { Json } from "../text/json.js";
import { lookupPath } from "../text/lookup-path.js";
import { type ConditionVerdict, type ExpressionAnswer, evaluateCondition } from "./conditions.js";

const DATA: Json = {
  state: { _last_error: null, flag: false, zero: 0, empty: "" },
  error: { code: "400", class: "deterministic_contract", exitCode: 7 },
  inputs: { count: 5, name: "beta", list: [1, 2, 3], map: { a: [1, { b: null }] }, one: ["x"] },
};
const judge = (condition: Condition, data: Json = DATA) =>
  evaluateCondition(condition, (path) => lookupPath(data, path));
const yes = (why: string): ConditionVerdict => ({ kind: "true", why });
const no = (why: string): ConditionVerdict => ({ kind: "false", why });
const field = (path: string): Operand => ({ type: "field", path });
const literal = (value: Json): Operand => ({ type: "literal", value });
const comparison = (left: Operand, operator: ComparisonOperator, right: Operand): Condition => ({
  type: "comparison",
  operator,
  left,
  right,
});
const expression = (code: string): Condition => ({ type: "expression", code });
const exists = (path: string): Condition => ({ type: "exists", field: path });
const TRUE = exists("inputs.name");
const FALSE = exists("state._last_error");

describe("exists", () => {
  it.each(["state.flag", "state.zero", "state.empty", "inputs.list"])(
    "%s is there though it may be false, 0 or empty",
    (path) => {
      expect(judge(exists(path))).toEqual(yes(`${path} exists`));
    },
  );
  it.each(["state._last_error", "state.other", "nothing.at.all", "inputs.toString", "inputs.list.length"])(
    "%s does not exist: null, absent or not the data's own",
    (path) => {
      expect(judge(exists(path))).toEqual(no(`${path} does not exist`));
    },
  );
});

describe("comparison", () => {
  it("says what the field is and what it is not", () => {
    expect(judge(comparison(field("error.code"), "==", literal("503")))).toEqual(
      no("error.code is 400, not 503"),
    );
    expect(judge(comparison(field("error.code"), "!=", literal("503")))).toEqual(
      yes("error.code is 400, not 503"),
    );
    expect(judge(comparison(field("error.code"), "==", literal("400")))).toEqual(yes("error.code is 400"));
    expect(judge(comparison(field("error.code"), "!=", literal("400")))).toEqual(no("error.code is 400"));
    expect(judge(comparison(field("inputs.count"), "<", field("error.exitCode")))).toEqual(
      yes("inputs.count is 5, < error.exitCode (7)"),
    );
    expect(judge(comparison(literal(9), "<=", field("error.exitCode")))).toEqual(
      no("9 is not <= error.exitCode (7)"),
    );
  });
  it("does not take a text for a number, and shows the difference", () => {
    expect(judge(comparison(field("error.code"), "==", literal(400)))).toEqual(
      no('error.code is "400", not 400'),
    );
  });
  it.each([
    [2, "<", 10, true],
    [10, "<", 2, false],
    ["10", "<", "2", true],
    ["a", ">", "b", false],
    [2, "<=", 2, true],
    [2, ">=", 2, true],
    [2, "<", 2, false],
    [2, ">", 2, false],
    ["b", ">=", "a", true],
  ] as const)("%j %s %j is %s", (a, operator, b, holds) => {
    expect(judge(comparison(literal(a), operator, literal(b))).kind).toBe(String(holds));
  });
  it.each(["<", "<=", ">", ">="] as const)("mixed or unordered types are never %s", (operator) => {
    for (const [a, b] of [
      [1, "2"],
      ["1", 2],
      [null, 1],
      [null, null],
      [true, false],
      [[1], [2]],
      [{}, {}],
      [true, 0],
    ] as const) {
      expect(judge(comparison(literal(a), operator, literal(b))).kind).toBe("false");
    }
  });
  it("== and != look into arrays and objects, whatever the order of keys", () => {
    const same: Json = { b: [1, { c: null }], a: 1 };
    expect(judge(comparison(literal({ a: 1, b: [1, { c: null }] }), "==", literal(same))).kind).toBe("true");
    expect(judge(comparison(literal({ a: 1, b: [1, { c: 0 }] }), "==", literal(same))).kind).toBe("false");
    expect(judge(comparison(literal([1, 2]), "!=", literal([2, 1]))).kind).toBe("true");
    expect(judge(comparison(literal([]), "==", literal({}))).kind).toBe("false");
  });
  it("an absent field is null", () => {
    expect(judge(comparison(field("state.other"), "==", literal(null)))).toEqual(
      yes("state.other does not exist"),
    );
    expect(judge(comparison(field("state.other"), "!=", literal("x")))).toEqual(
      yes("state.other does not exist"),
    );
  });
  it("shortens a long value without cutting a character in two", () => {
    const { why } = judge(comparison(field("big"), "==", literal("x")), { big: `${"y".repeat(58)}😀😀` }) as {
      why: string;
    };
    expect(why).toBe(`big is "${"y".repeat(58)}..., not "x"`);
    expect(why).not.toMatch(/\p{Cs}/u);
  });
});

describe("in_set", () => {
  const set = (path: string, values: Json[]): Condition => ({ type: "in_set", field: path, values });
  it("finds a value deep-equal to the field's", () => {
    expect(judge(set("error.code", ["503", "400"]))).toEqual(yes('error.code is "400", one of the set'));
    expect(
      judge(
        set("inputs.list", [
          [1, 2],
          [1, 2, 3],
        ]),
      ).kind,
    ).toBe("true");
  });
  it("says which values it is none of", () => {
    expect(judge(set("error.code", ["503", 400]))).toEqual(no('error.code is "400", none of ["503",400]'));
    expect(judge(set("state.other", ["x"]))).toEqual(no('state.other does not exist, none of ["x"]'));
    expect(judge(set("inputs.name", [])).kind).toBe("false");
  });
});

describe("array_length", () => {
  const length = (path: string, operator: ComparisonOperator, value: number): Condition => ({
    type: "array_length",
    field: path,
    operator,
    value,
  });
  it.each([
    ["==", 3, "true"],
    ["!=", 3, "false"],
    ["<", 3, "false"],
    ["<=", 3, "true"],
    [">", 2, "true"],
    [">=", 4, "false"],
  ] as const)("of three items %s %i is %s", (operator, value, kind) => {
    expect(judge(length("inputs.list", operator, value)).kind).toBe(kind);
  });
  it("counts in words", () => {
    expect(judge(length("inputs.list", ">", 5))).toEqual(no("inputs.list has 3 items, not > 5"));
    expect(judge(length("inputs.one", "==", 1))).toEqual(yes("inputs.one has 1 item, == 1"));
  });
  it.each(["==", "!=", "<", "<=", ">", ">="] as const)(
    "is false of what is no array, whatever the operator: %s",
    (operator) => {
      expect(judge(length("inputs.name", operator, 4))).toEqual(no("inputs.name is not an array"));
      expect(judge(length("inputs.map", operator, 0))).toEqual(no("inputs.map is not an array"));
      expect(judge(length("state.other", operator, 0))).toEqual(no("state.other does not exist"));
    },
  );
});

describe("and, or, not", () => {
  it("and gives the first reason against, or all reasons for", () => {
    expect(judge({ type: "and", conditions: [TRUE, FALSE, exists("x.y")] })).toEqual(
      no("state._last_error does not exist"),
    );
    expect(judge({ type: "and", conditions: [TRUE, exists("inputs.count")] })).toEqual(
      yes("inputs.name exists and inputs.count exists"),
    );
  });
  it("or gives the first reason for, or all reasons against", () => {
    expect(judge({ type: "or", conditions: [FALSE, TRUE] })).toEqual(yes("inputs.name exists"));
    expect(judge({ type: "or", conditions: [FALSE, exists("x.y")] })).toEqual(
      no("state._last_error does not exist and x.y does not exist"),
    );
  });
  it("not keeps the reason, which is a fact", () => {
    expect(judge({ type: "not", condition: FALSE })).toEqual(yes("state._last_error does not exist"));
    expect(judge({ type: "not", condition: TRUE })).toEqual(no("inputs.name exists"));
  });
  it("of nothing: and holds, or does not", () => {
    expect(judge({ type: "and", conditions: [] })).toEqual(yes("there is nothing to test"));
    expect(judge({ type: "or", conditions: [] })).toEqual(no("there is nothing to test"));
  });
  it("names three reasons and counts the others", () => {
    const { why } = judge({ type: "or", conditions: ["a", "b", "c", "d", "e"].map(exists) }) as {
      why: string;
    };
    expect(why).toBe("a does not exist and b does not exist and c does not exist and 2 more");
  });
});

describe("expressions", () => {
  const asked = (condition: Condition, known: { [code: string]: ExpressionAnswer } = {}) =>
    evaluateCondition(
      condition,
      (path) => lookupPath(DATA, path),
      (code) => known[code],
    );
  it("are asked for when nothing is known of them, and obeyed when it is", () => {
    expect(asked(expression("x > 1"))).toEqual({ kind: "ask", code: "x > 1" });
    expect(asked(expression("x > 1"), { "x > 1": true })).toEqual(yes("the expression is true"));
    expect(asked(expression("x > 1"), { "x > 1": false })).toEqual(no("the expression is false"));
  });
  it("are not asked for where the rest decides, before or after them", () => {
    expect(asked({ type: "and", conditions: [expression("a"), FALSE] }).kind).toBe("false");
    expect(asked({ type: "or", conditions: [expression("a"), TRUE] }).kind).toBe("true");
    expect(
      asked({ type: "not", condition: { type: "and", conditions: [expression("a"), FALSE] } }).kind,
    ).toBe("true");
  });
  it("are asked for one after the other where the rest does not decide", () => {
    const both: Condition = {
      type: "and",
      conditions: [TRUE, expression("a"), { type: "not", condition: expression("b") }],
    };
    expect(asked(both)).toEqual({ kind: "ask", code: "a" });
    expect(asked(both, { a: true })).toEqual({ kind: "ask", code: "b" });
    expect(asked(both, { a: true, b: false }).kind).toBe("true");
    expect(asked(both, { a: false }).kind).toBe("false");
  });
  it("count as false when refused, with the reason", () => {
    const refused = { refused: "ReferenceError: y is not defined" };
    expect(asked(expression("y"), { y: refused })).toEqual(
      no("the expression was refused: ReferenceError: y is not defined"),
    );
    expect(asked({ type: "or", conditions: [expression("y"), TRUE] }, { y: refused }).kind).toBe("true");
    expect(asked({ type: "and", conditions: [expression("y"), TRUE] }, { y: refused }).kind).toBe("false");
  });
  it("a refused one makes nothing true, not even under a not", () => {
    const y = { y: { refused: "ran too long" } };
    const not: Condition = { type: "not", condition: expression("y") };
    expect(asked(not, y)).toEqual(no("the expression was refused: ran too long"));
    expect(asked({ type: "not", condition: not }, y).kind).toBe("false");
    expect(asked({ type: "or", conditions: [not, FALSE] }, y).kind).toBe("false");
  });
});

describe("any condition of expressions", () => {
  const codes = ["a", "b", "c"];
  const { condition: anyCondition } = fc.letrec<{ condition: Condition }>((tie) => ({
    condition: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(...codes).map(expression),
      fc
        .array(tie("condition"), { maxLength: 3 })
        .map((conditions): Condition => ({ type: "and", conditions })),
      fc
        .array(tie("condition"), { maxLength: 3 })
        .map((conditions): Condition => ({ type: "or", conditions })),
      tie("condition").map((condition): Condition => ({ type: "not", condition })),
    ),
  }));
  const truth = (condition: Condition, known: Map<string, boolean>): boolean => {
    if (condition.type === "expression") return known.get(condition.code)!;
    if (condition.type === "not") return !truth(condition.condition, known);
    if (condition.type === "and") return condition.conditions.every((member) => truth(member, known));
    return condition.type === "or" && condition.conditions.some((member) => truth(member, known));
  };
  it("comes by asking, once an expression at most, to what logic says", () => {
    fc.assert(
      fc.property(
        anyCondition,
        fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
        (condition, values) => {
          const all = new Map(codes.map((code, index) => [code, values[index]!]));
          const known = new Map<string, boolean>();
          for (let round = 0; round <= codes.length; round++) {
            const result = evaluateCondition(
              condition,
              () => undefined,
              (code) => known.get(code),
            );
            if (result.kind !== "ask") {
              expect(result.kind).toBe(String(truth(condition, all)));
              return;
            }
            expect(known.has(result.code)).toBe(false);
            known.set(result.code, all.get(result.code)!);
          }
          throw new Error("still asking");
        },
      ),
    );
  });
});
