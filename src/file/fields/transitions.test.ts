import { describe, expect, it } from "vitest";
import { definitionOf, problemsOf, REAL_CHECKS, summaryOf } from "../../../test/support/workflow-text.js";

const STEPS = "steps: { a: { exec: x }, b: { exec: x }, c: { exec: x } }";
const withTransitions = (list: string, top = "") => `transitions: ${list}\n${STEPS}\n${top}`;
const transitionsOf = (list: string) => definitionOf(withTransitions(list)).transitions;
const whenOf = (when: string) =>
  definitionOf(withTransitions(`[{ from: a, to: b, on: any, when: ${when} }]`, "inputs: { z: number }"))
    .transitions[0]!.when;
const refusalOf = (when: string) =>
  problemsOf(withTransitions(`[{ from: a, to: b, on: any, when: ${when} }]`, "inputs: { zone: number }")).map(
    ({ code, message }) => `${code} ${message}`,
  );

describe("transitions", () => {
  it("have an id, an outcome and a priority by default", () => {
    expect(transitionsOf("[{ from: a, to: b }, { from: a, to: c, on: failure, priority: 7 }]")).toEqual([
      { id: 1, from: "a", to: "b", on: "success", priority: 1, when: null },
      { id: 2, from: "a", to: "c", on: "failure", priority: 7, when: null },
    ]);
  });

  it("are tried after any end in the form with node ids, unless they say otherwise", () => {
    const exists = "{ type: exists, field: { type: field, path: state._last_error } }";
    expect(
      transitionsOf(
        `[{ from_node_id: a, to_node_id: b, priority: 2, condition: ${exists} }, { from_node_id: a, to_node_id: c, routeOn: failure, priority: 3 }]`,
      ),
    ).toEqual([
      {
        id: 1,
        from: "a",
        to: "b",
        on: "any",
        priority: 2,
        when: { type: "exists", field: "state._last_error" },
      },
      { id: 2, from: "a", to: "c", on: "failure", priority: 3, when: null },
    ]);
  });

  it("say what becomes of the failure", () => {
    expect(
      transitionsOf(
        "[{ from: a, to: b, on: failure, then: continue }, { from: a, to: c, on: any, then: fail }]",
      ).map(({ then }) => then),
    ).toEqual(["continue", "fail"]);
  });

  it("stand in the step as well, and come after those of the list", () => {
    const steps = `steps:
  a: { exec: x, on_fail: { edge: { to: b, then: continue } } }
  b: { exec: x }
  c: { exec: x, on_fail: { edge: { to: b } } }`;
    const list = "transitions: [{ from: a, to: c, on: failure, priority: 9 }]";
    expect(definitionOf(`${list}\n${steps}`).transitions).toEqual([
      { id: 1, from: "a", to: "c", on: "failure", priority: 9, when: null },
      { id: 2, from: "a", to: "b", on: "failure", priority: 2, when: null, then: "continue", inStep: true },
      { id: 3, from: "c", to: "b", on: "failure", priority: 3, when: null, inStep: true },
    ]);
    expect(definitionOf(steps).steps.map(({ start }) => start)).toEqual(["auto", "routed", "auto"]);
  });

  it.each([
    [
      "transitions: [{ from: a, to: b, then: skip }]\nsteps: { a: { exec: x }, b: { exec: x } }",
      "INVALID_VALUE 1:33 transitions[0].then",
    ],
    [
      "transitions: [{ from: a, to: b, on: failure, then: stop }]\nsteps: { a: { exec: x }, b: { exec: x } }",
      "INVALID_VALUE 1:52 transitions[0].then",
    ],
    [
      "steps: { a: { exec: x, on_fail: { edge: { to: c } } }, b: { exec: x } }",
      "UNKNOWN_STEP 1:47 steps.a.on_fail.edge.to",
    ],
    [
      "steps: { a: { exec: x, on_fail: { edge: { then: fail } } }, b: { exec: x } }",
      "MISSING_KEY 1:41 steps.a.on_fail.edge",
    ],
    [
      "routing: { defaults: { on_fail: { edge: { to: b } } } }\nsteps: { a: { exec: x }, b: { exec: x } }",
      "UNKNOWN_KEY 1:35 routing.defaults.on_fail.edge",
    ],
    [
      "steps: { a: { exec: x, continue_on_failure: true, on_fail: { edge: { to: b, then: skip } } }, b: { exec: x } }",
      "INVALID_VALUE 1:68 steps.a.on_fail.edge.then",
    ],
  ])("%s: %s", (source, summary) => {
    expect(summaryOf(source)).toEqual([summary]);
  });

  it("take the keys of the other forms", () => {
    expect(
      transitionsOf(
        "[{ sourceNodeKey: a, targetNodeKey: b, route_on: failure }, { from: b, to: c, routeOn: any }]",
      ),
    ).toMatchObject([
      { from: "a", to: "b", on: "failure" },
      { from: "b", to: "c", on: "any" },
    ]);
  });

  it("make the step they lead to wait for them, unless it depends on something or says otherwise", () => {
    const definition = definitionOf(`
transitions: [{ from: a, to: b }, { from: a, to: c, on: failure }, { from: b, to: d }]
steps: { a: { exec: x }, b: { exec: x }, c: { exec: x, start: auto }, d: { exec: x, depends_on: a } }
`);
    expect(definition.steps.map((step) => step.start)).toEqual(["auto", "routed", "auto", "auto"]);
  });

  it("may leave no step to start with, and then say which one to set", () => {
    expect(
      problemsOf(
        "transitions: [{ from: a, to: b }, { from: b, to: a }]\nsteps: { a: { exec: x }, b: { exec: x } }",
      ),
    ).toMatchObject([
      { code: "NO_START", hint: expect.stringContaining("`a` waits because something routes to it") },
    ]);
  });

  it.each([
    ["[{ from: a }]", "MISSING_KEY 1:15 transitions[0]"],
    ["[{ from: a, to: bb }]", "UNKNOWN_STEP 1:30 transitions[0].to"],
    ["[{ from: x, to: b }]", "UNKNOWN_STEP 1:23 transitions[0].from"],
    ["[{ from: a, to: a }]", "INVALID_VALUE 1:30 transitions[0].to"],
    ["[{ from: a, to: b, on: error }]", "INVALID_VALUE 1:37 transitions[0].on"],
    ["[{ from: a, to: b, priority: -1 }]", "INVALID_VALUE 1:43 transitions[0].priority"],
    ["[{ from: a, to: b, typo: 1 }]", "UNKNOWN_KEY 1:33 transitions[0].typo"],
    ["[{ from: a, from_node_id: a, to: b }]", "INVALID_VALUE 1:26 transitions[0].from_node_id"],
  ])("refuse %s", (list, summary) => {
    expect(summaryOf(withTransitions(list))).toEqual([summary]);
  });

  it.each([
    ["on_fail: { transitions: [] }", "write it as `transitions` at the top of the file"],
    ["on_success: { goto_event: x }", "write it as `transitions` at the top of the file"],
    ["transform_js: output", "a step has one output; change it in a `script` step that depends on this one"],
    [
      "on: [pr_opened]",
      "a file runs when it is told to; say what started it with --context, and decide with `if`",
    ],
    ["failure_conditions: {}", "write a failure that the output shows as `fail_if`"],
  ])("and other keys of steps in the routing form are refused with what to write: %s", (key, instead) => {
    const [problem, ...others] = problemsOf(`steps: { a: { exec: x, ${key} } }`);
    expect(problem!.message).toMatch(/^unknown key `\w+` here: /);
    expect(problem!.message.endsWith(instead)).toBe(true);
    expect(others).toEqual([]);
  });

  it("say which step was meant", () => {
    const text =
      "transitions: [{ from: build, to: deplyo }]\nsteps: { build: { exec: x }, deploy: { exec: x } }";
    expect(problemsOf(text)[0]?.message).toBe(
      "the transition's `to` names the unknown step `deplyo`, did you mean `deploy`?",
    );
  });

  it.each([
    ["success", "success", true],
    ["failure", "failure", true],
    ["any", "success", true],
    ["failure", "any", true],
    ["any", "any", true],
    ["success", "failure", false],
  ])("of one step may not share a priority (%s and %s: %s)", (first, second, clash) => {
    const problems = problemsOf(
      withTransitions(`[{ from: a, to: b, on: ${first}, priority: 2 }, { from: a, to: c, on: ${second} }]`),
    );
    expect(problems.map((problem) => problem.message)).toEqual(
      clash ? ["the transitions 1 and 2 from `a` have the same priority 2 for the same outcome"] : [],
    );
  });

  it("stay within their scope, save to a routed step that depends on nothing", () => {
    const text = (to: string) => `
transitions: [{ from: work, to: ${to}, on: failure }]
steps:
  list: { exec: x, forEach: true }
  work: { exec: x, depends_on: list }
  beside: { exec: x, depends_on: list }
  sum: { exec: x, depends_on: [work, beside], fanout: reduce }
  free: { exec: x }
  bound: { exec: x, start: auto }
`;
    expect(problemsOf(text("free"))).toEqual([]);
    expect(problemsOf(text("beside"))).toEqual([]);
    for (const to of ["sum", "bound"])
      expect(problemsOf(text(to)).map(({ code, path }) => `${code} ${path}`)).toContain(
        "CROSS_SCOPE transitions[0].to",
      );
  });
});

describe("a transition's condition", () => {
  it.each([
    ["{ type: exists, field: outputs.a.x }", { type: "exists", field: "outputs.a.x" }],
    [
      "{ type: comparison, operator: '>=', left: { type: field, path: inputs.z }, right: { type: literal, value: [1] } }",
      {
        type: "comparison",
        operator: ">=",
        left: { type: "field", path: "inputs.z" },
        right: { type: "literal", value: [1] },
      },
    ],
    [
      "{ type: comparison, operator: ==, left: error.code, right: EXIT_3 }",
      {
        type: "comparison",
        operator: "==",
        left: { type: "field", path: "error.code" },
        right: { type: "literal", value: "EXIT_3" },
      },
    ],
    [
      "{ type: comparison, operator: '!=', left: null, right: state._last_error }",
      {
        type: "comparison",
        operator: "!=",
        left: { type: "literal", value: null },
        right: { type: "field", path: "state._last_error" },
      },
    ],
    [
      "{ type: in_set, field: error.code, values: [A, 1, null] }",
      { type: "in_set", field: "error.code", values: ["A", 1, null] },
    ],
    [
      "{ type: array_length, field: outputs.a, operator: '<', value: 3 }",
      { type: "array_length", field: "outputs.a", operator: "<", value: 3 },
    ],
    [
      "{ type: and, conditions: [{ type: not, condition: { type: exists, field: error.code } }, { type: or, conditions: [{ type: exists, field: state._last_error }] }] }",
      {
        type: "and",
        conditions: [
          { type: "not", condition: { type: "exists", field: "error.code" } },
          { type: "or", conditions: [{ type: "exists", field: "state._last_error" }] },
        ],
      },
    ],
    ["{ type: exists, field: 'outputs.a[0].x[2]' }", { type: "exists", field: "outputs.a[0].x[2]" }],
    [
      "{ type: and, conditions: ['x > 1', { type: not, condition: 'y' }] }",
      {
        type: "and",
        conditions: [
          { type: "expression", code: "x > 1" },
          { type: "not", condition: { type: "expression", code: "y" } },
        ],
      },
    ],
    ["'error.code === 1'", { type: "expression", code: "error.code === 1" }],
  ])("is read: %s", (when, condition) => {
    expect(whenOf(when)).toEqual(condition);
  });

  it.each([
    ["{ field: error.code }", "MISSING_KEY the key `type` is missing"],
    [
      "{ type: exist, field: error.code }",
      "INVALID_VALUE `exist` is not allowed here, did you mean `exists`?",
    ],
    [
      "{ type: exists, field: outptus.a.x }",
      "INVALID_VALUE `outptus.a.x` is not a field, did you mean `outputs.a.x`?",
    ],
    ["{ type: exists, field: state }", "INVALID_VALUE `state` is not a field"],
    ["{ type: exists, field: 'outputs.a[x]' }", "INVALID_VALUE `outputs.a[x]` is not a field"],
    ["{ type: exists, field: outputs.q.x }", "UNKNOWN_STEP `outputs.q` is not a step of the file"],
    ["{ type: exists, field: inputs.zoen }", "UNKNOWN_NAME unknown input `zoen`, did you mean `zone`?"],
    ["{ type: exists, field: error.code, path: y }", "UNKNOWN_KEY unknown key `path`"],
    [
      "{ type: comparison, operator: =, left: error.code, right: 1 }",
      "INVALID_VALUE `=` is not allowed here",
    ],
    [
      "{ type: comparison, operator: ==, left: x, right: 1 }",
      "INVALID_VALUE the comparison has no field, so its result never changes",
    ],
    [
      "{ type: comparison, operator: ==, left: error.code, right: [1] }",
      "WRONG_TYPE expected a field or a value, found a list",
    ],
    ["{ type: in_set, field: error.code, values: [] }", "INVALID_VALUE the list is empty"],
    ["{ type: and, conditions: [] }", "INVALID_VALUE the list is empty"],
    [
      "{ type: and, conditions: [1] }",
      "WRONG_TYPE expected a JavaScript expression or a condition (a map with `type`), found a number",
    ],
    ["{ type: not }", "MISSING_KEY the key `condition` is missing"],
  ])("is refused: %s", (when, refusal) => {
    expect(refusalOf(when)).toEqual([refusal]);
  });

  it("may read a step whose id has dots", () => {
    const text =
      "transitions: [{ from: a.b, to: c, when: { type: exists, field: outputs.a.b.x } }]\nsteps: { a.b: { exec: x }, c: { exec: x } }";
    expect(problemsOf(text)).toEqual([]);
  });

  it("is compiled where it is an expression, and bounded in size", () => {
    const text = withTransitions("[{ from: a, to: b, when: 'x +' }]");
    expect(
      summaryOf(text, { checkExpression: () => ({ message: "ends too soon", line: 1, column: 4 }) }),
    ).toEqual(["EXPRESSION_SYNTAX 1:43 transitions[0].when"]);
    expect(summaryOf(withTransitions(`[{ from: a, to: b, when: '${"x".repeat(9000)}' }]`))).toEqual([
      "EXPRESSION_TOO_LONG 1:39 transitions[0].when",
    ]);
  });

  it.each([
    ["{ type: exists, field: state._last_error }", true],
    ["{ type: not, condition: { type: exists, field: state._last_error.code } }", true],
    ["{ type: comparison, operator: ==, left: 1, right: error.message }", true],
    ["{ type: exists, field: outputs.a.error }", false],
    ["{ type: not, condition: { type: or, conditions: ['error'] } }", true],
    ['"error.code === 3"', true],
    ['"!state._last_error"', true],
    ['"const { _last_error } = state; return _last_error"', true],
    ["\"outputs.a.error === 'an error'\"", false],
    ['"outputs.a. error"', false],
    ['"[1].map((error) => error).length > 2"', false],
  ])("that looks at the error needs `on` to be said: %s", (when, refused) => {
    const problems = problemsOf(withTransitions(`[{ from: a, to: b, when: ${when} }]`), REAL_CHECKS);
    expect(problems.map(({ hint }) => hint)).toEqual(refused ? ["Add `on: failure` or `on: any`."] : []);
    const said = withTransitions(`[{ from: a, to: b, on: success, when: ${when} }]`);
    expect(problemsOf(said, REAL_CHECKS)).toEqual([]);
  });
});
