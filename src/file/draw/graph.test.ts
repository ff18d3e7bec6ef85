import { describe, expect, it } from "vitest";
import { defineWorkflow } from "../builder.js";
import { draw } from "./drawing.js";
import { toDot, toMermaid } from "./graph.js";
import { renderCondition } from "./render-condition.js";

const definition = defineWorkflow({
  name: 'say "hi"\\',
  steps: {
    setup: { exec: "x" },
    other: { exec: "x" },
    build: {
      exec: "x",
      depends_on: ["setup|other"],
      on_fail: { retry: { max: 2 }, run: "fix", goto: "setup" },
      on_success: { run: "tell" },
    },
    fix: { exec: "x" },
    tell: { exec: "x" },
    list: { type: "noop", depends_on: "build", forEach: true },
    sum: { type: "noop", depends_on: "list", fanout: "reduce" },
  },
});

describe("toMermaid", () => {
  it("draws steps, or-groups, dependencies and routes, each in its own way", { tags: ["V4"] }, () => {
    expect(toMermaid(definition)).toBe(`flowchart TD
  n0["setup"]
  n1["other"]
  n2["build<br/>retry 2"]
  n3("fix")
  n4("tell")
  n5[/"list<br/>for each item"\\]
  n6[\\"sum<br/>reduce"/]
  n2_or0{"or"}
  n0 --> n2_or0
  n1 --> n2_or0
  n2_or0 --> n2
  n2 -.->|"on fail: run"| n3
  n2 -.->|"on fail: goto"| n0
  n2 -.->|"on success: run"| n4
  n2 --> n5
  n5 --> n6
  linkStyle 3 stroke:#dc2626,stroke-dasharray:6 4
  linkStyle 4 stroke:#dc2626,stroke-dasharray:6 4
  linkStyle 5 stroke:#16a34a,stroke-dasharray:1 3
`);
  });

  it("colours steps by status", () => {
    const lines = toMermaid(definition, { setup: "completed", build: "failed" }).split("\n");
    expect(lines.filter((line) => line.startsWith("  style"))).toEqual([
      "  style n0 fill:#86efac,color:#111827",
      "  style n2 fill:#fca5a5,color:#111827",
    ]);
  });
});

describe("toDot", () => {
  it("draws failure routes dashed and success routes dotted, and quotes names", { tags: ["V4"] }, () => {
    const dot = toDot(definition, { fix: "running" });
    expect(dot.startsWith('digraph "say \\"hi\\"\\\\" {\n')).toBe(true);
    expect(dot).toContain('  n2 [label="build\\nretry 2" shape=box];');
    expect(dot).toContain('  n3 [label="fix" shape=box style="rounded,dashed,filled" fillcolor="#93c5fd"];');
    expect(dot).toContain(
      '  n2 -> n0 [label="on fail: goto" style=dashed color="#dc2626" constraint=false];',
    );
    expect(dot).toContain(
      '  n2 -> n4 [label="on success: run" style=dotted color="#16a34a" constraint=false];',
    );
    expect(dot).toContain("  n0 -> n2_or0;");
  });
});

describe("transitions", () => {
  const routed = defineWorkflow({
    name: "routed",
    steps: { a: { exec: "x" }, b: { exec: "x" }, c: { exec: "x" }, d: { exec: "x" } },
    transitions: [
      { from: "a", to: "b" },
      {
        from: "a",
        to: "c",
        on: "failure",
        when: { type: "comparison", operator: "==", left: "error.code", right: "TIMEOUT" },
      },
      { from: "a", to: "d", on: "any", priority: 9, when: `state._last_error && "${"x".repeat(50)}"` },
    ],
  });

  it("are drawn in Mermaid by their outcome, with priority and condition", () => {
    const picture = toMermaid(routed);
    expect(picture).toContain('n0 ==>|"on success 1"| n1');
    expect(picture).toContain('n0 -.->|"on failure 2: error.code #61;#61; #34;TIMEOUT#34;"| n2');
    expect(picture).toContain(
      'n0 -.->|"on any end 9: state._last_error #38;#38; #34;xxxxxxxxxxxxxxxxxx#8230;"| n3',
    );
    expect(picture).toContain("linkStyle 1 stroke:#dc2626,stroke-dasharray:6 4");
  });

  const ends = defineWorkflow({
    name: "ends",
    steps: { a: { exec: "x" }, b: { exec: "x" }, c: { exec: "x" }, d: { exec: "x" } },
    transitions: [
      { from: "a", to: "b", on: "failure", then: "skip" },
      { from: "a", to: "c", on: "failure", then: "continue" },
      { from: "a", to: "d", on: "any", then: "fail" },
    ],
  });

  it("are told apart by what becomes of a failure", () => {
    const picture = toMermaid(ends);
    expect(picture.match(/\|".*"\|/g)).toEqual([
      '|"on failure 1, then skip"|',
      '|"on failure 2, then continue"|',
      '|"on any end 3, then fail"|',
    ]);
    expect(picture.match(/linkStyle.*/g)).toEqual([
      "linkStyle 0 stroke:#dc2626,stroke-dasharray:6 4",
      "linkStyle 1 stroke:#16a34a,stroke-dasharray:6 4",
      "linkStyle 2 stroke:#dc2626,stroke-width:3px,stroke-dasharray:6 4",
    ]);
    expect(toDot(ends).match(/style=.* color="#\w+"(?= constraint)/g)).toEqual([
      'style=dashed color="#dc2626"',
      'style=dashed color="#16a34a"',
      'style="dashed,bold" color="#dc2626"',
    ]);
    expect(draw(ends).edges.map(({ then }) => then)).toEqual(["skip", "continue", "fail"]);
    expect(draw(routed).edges.map(({ then }) => then)).toEqual([null, "skip", "skip"]);
  });

  it("are drawn for Graphviz by their outcome", () => {
    const picture = toDot(routed);
    expect(picture).toContain('n0 -> n1 [label="on success 1" style=bold color="#16a34a" constraint=false];');
    expect(picture).toContain(
      'n0 -> n2 [label="on failure 2: error.code == \\"TIMEOUT\\"" style=dashed color="#dc2626" constraint=false];',
    );
    expect(picture).toContain('style=dashed color="#6b7280"');
  });

  it("show their conditions as a person would write them", () => {
    const exists = { type: "exists", field: "error.x" } as const;
    expect(
      renderCondition({
        type: "and",
        conditions: [
          { type: "not", condition: { type: "in_set", field: "error.code", values: ["A", 1] } },
          {
            type: "or",
            conditions: [exists, { type: "array_length", field: "outputs.a", operator: ">", value: 2 }],
          },
        ],
      }),
    ).toBe('(not (error.code in ["A",1])) and (exists error.x or (length of outputs.a > 2))');
  });
});

describe("labels", () => {
  it("cannot break out of either language, whatever a step is called", () => {
    // The loader refuses such an id; a definition read back from a store may be of another version.
    const hostile = {
      ...definition,
      steps: [{ ...definition.steps[0]!, id: '"]; click n0 "javascript:x" <b>\\' }],
    };
    expect(toMermaid(hostile)).toContain('n0["#34;#93;#59; click n0 #34;javascript:x#34; #60;b#62;#92;"]');
    expect(toDot(hostile)).toContain('n0 [label="\\"]; click n0 \\"javascript:x\\" <b>\\\\" shape=box];');
  });
});
