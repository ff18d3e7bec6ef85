import { afterAll, describe, expect, it } from "vitest";
import { createSandbox } from "../../src/run/sandbox/quickjs-sandbox.js";
import { trial } from "../support/harness.js";
import { Stage } from "../support/stage.js";
import { problemsOf } from "../support/workflow-text.js";

const sandbox = createSandbox();
afterAll(() => sandbox.close());

const flow = (when: string, on = "failure") => `inputs: { target: { type: string, default: staging } }
steps:
  before: { exec: "true" }
  a: { exec: "true", depends_on: before, tags: [slow] }
  yes: { exec: "true" }
  no: { exec: "true" }
transitions:
  - { from: a, to: yes, on: ${on}, when: ${when}, priority: 1 }
  - { from: a, to: no, on: ${on}, priority: 2 }`;

const script = {
  before: [{ output: { size: 3, list: ["x", "y"], name: "emoji 🎉" } }],
  a: [{ facts: { message: "503 unavailable", httpStatus: 503 } }],
} as const;

/** Conditions that hold, and the same turned round. */
const CONDITIONS: readonly (readonly [string, string])[] = [
  ["exists", "{ type: exists, field: { type: field, path: outputs.before.size } }"],
  ["exists, short form", "{ type: exists, field: state._last_error }"],
  [
    "comparison ==",
    '{ type: comparison, operator: "==", left: error.code, right: { type: literal, value: "503" } }',
  ],
  [
    "comparison !=",
    '{ type: comparison, operator: "!=", left: inputs.target, right: { type: literal, value: production } }',
  ],
  ["comparison <", '{ type: comparison, operator: "<", left: outputs.before.size, right: 4 }'],
  ["comparison <=", '{ type: comparison, operator: "<=", left: outputs.before.size, right: 3 }'],
  ["comparison >", '{ type: comparison, operator: ">", left: outputs.before.size, right: 2 }'],
  ["comparison >=", '{ type: comparison, operator: ">=", left: 3, right: outputs.before.size }'],
  ["in_set", "{ type: in_set, field: error.class, values: [transient_runtime, resource] }"],
  ["array_length", '{ type: array_length, field: outputs.before.list, operator: "==", value: 2 }'],
  [
    "and",
    '{ type: and, conditions: [{ type: exists, field: error.message }, { type: in_set, field: error.code, values: ["503"] }] }',
  ],
  [
    "or",
    "{ type: or, conditions: [{ type: exists, field: outputs.no }, { type: exists, field: outputs.before }] }",
  ],
  ["not", "{ type: not, condition: { type: exists, field: outputs.yes } }"],
  [
    "an expression",
    "\"error.code === '503' && outputs.before.list.length === 2 && step.tags[0] === 'slow'\"",
  ],
  [
    "an expression among conditions",
    '{ type: and, conditions: [{ type: exists, field: error.code }, "attempt === 1 && visit === 1"] }',
  ],
];

describe("conditions of transitions", () => {
  it.each(CONDITIONS)("%s: taken where it holds", { tags: ["W10"] }, async (_, when) => {
    const run = await trial(flow(when), script, { sandbox });
    expect(run.order).toEqual(["before", "a", "yes"]);
  });

  it.each(CONDITIONS)(
    "%s, turned round: passed over, and the next edge is taken",
    { tags: ["W10", "A5"] },
    async (_, when) => {
      const run = await trial(flow(`{ type: not, condition: ${when} }`), script, { sandbox });
      expect(run.order).toEqual(["before", "a", "no"]);
      const [considered] = run.events("edge.taken")[0]!.considered;
      expect(considered).toMatchObject({ edge: 1, matched: false, why: expect.any(String) });
    },
  );

  it.each([
    ["throws", '"nowhere.to.be.seen"', "refused"],
    ["runs for ever", '"while (true) {}"', "refused"],
    ["is not a boolean but an object", '"({})"', "expression"],
  ])(
    "an expression that %s is refused with its reason, and the next edge is tried",
    { tags: ["A7"] },
    async (_, when, why) => {
      const run = await trial(flow(when), script, { sandbox });
      expect(run.order).toContain("a");
      expect(run.order).toHaveLength(3);
      const [considered] = run.events("edge.taken")[0]!.considered;
      expect(considered!.why).toContain(why);
    },
  );

  it("a guard on a failure edge is accepted and obeyed; one that does not compile is a load error", {
    tags: ["A1"],
  }, () => {
    expect(problemsOf(flow('"error.code === 1"'))).toEqual([]);
    const broken = problemsOf(flow('"error.code ==="'), {
      checkExpression: () => ({ message: "unexpected end" }),
    });
    expect(broken.map(({ code }) => code)).toEqual(["EXPRESSION_SYNTAX"]);
  });

  it("a guard on a failure edge is stored with the run and obeyed after a crash", {
    tags: ["A1", "A34"],
  }, async () => {
    const stage = await Stage.begin(flow("{ type: in_set, field: error.code, values: [EXIT_7] }"), {
      a: [{ exit: 7, takesMs: 50 }],
    });
    stage.kill();
    const run = await (await stage.resume()).rest();
    expect(run.order).toEqual(["before", "a", "a", "yes"]);
  });

  it("a field that names no step, input or root is a load error", { tags: ["W10"] }, () => {
    const field = (path: string) =>
      problemsOf(flow(`{ type: exists, field: ${path} }`)).map(({ code }) => code);
    expect(field("outputs.nobody.x")).toEqual(["UNKNOWN_STEP"]);
    expect(field("inputs.nothing")).toEqual(["UNKNOWN_NAME"]);
    expect(field("weather.today")).toHaveLength(1);
  });

  it("conditions on success edges see the outputs of their own step", { tags: ["W10"] }, async () => {
    const run = await trial(
      flow(
        '{ type: comparison, operator: "==", left: outputs.a.kind, right: { type: literal, value: big } }',
        "success",
      ),
      {
        a: [{ output: { kind: "big" } }],
      },
    );
    expect(run.order).toEqual(["before", "a", "yes"]);
  });

  it("the same expression on two edges is evaluated once", { tags: ["A7"] }, async () => {
    const run = await trial(
      `steps: { a: { exec: "true" }, x: { exec: "true" }, y: { exec: "true" } }
transitions:
  - { from: a, to: x, on: failure, when: { type: not, condition: "attempt === 1" } }
  - { from: a, to: y, on: failure, when: "attempt === 1" }`,
      { a: ["fail"] },
    );
    expect(run.order).toEqual(["a", "y"]);
    expect(run.events("evaluation.finished")).toHaveLength(1);
  });
});
