import { describe, expect, it } from "vitest";
import { fullWarningsOf, problemsOf, REAL_CHECKS } from "../../../../test/support/workflow-text.js";

/** `line:column CODE message` of each problem. */
const foundIn = (text: string) =>
  problemsOf(text, REAL_CHECKS).map(
    ({ line, column, code, message }) => `${line}:${column} ${code} ${message}`,
  );
const warnedOf = (text: string) =>
  fullWarningsOf(text, REAL_CHECKS).map(
    ({ line, column, code, message }) => `${line}:${column} ${code} ${message}`,
  );

describe("an output that need not be there", () => {
  const missing = (reader: string, step: string) =>
    `OUTPUT_MAY_BE_MISSING \`${reader}\` reads the output of \`${step}\`, but may run before it`;

  it("is warned of with its place", () => {
    const file =
      'steps:\n  a: { exec: x }\n  b: { exec: x, cwd: "{{ outputs.a }}" }\n  c: { exec: x, if: outputs.a.ok }\n';
    expect(warnedOf(file)).toEqual([`3:26 ${missing("b", "a")}`, `4:21 ${missing("c", "a")}`]);
    expect(fullWarningsOf(file, REAL_CHECKS).map(({ hint }) => hint)).toEqual([
      "Add `a` to the depends_on of `b`, or give it a `default`.",
      "Add `a` to the depends_on of `c`, or use `?.`.",
    ]);
  });

  const read = (id: string) => `if: outputs.${id}.ok`;
  it.each([
    [
      "its ancestor's",
      `a: { exec: x }, m: { exec: x, depends_on: a }, b: { exec: x, depends_on: m, ${read("a")} }`,
    ],
    [
      "either of an or-group's",
      `a: { exec: x }, c: { exec: x }, b: { exec: x, depends_on: "a|c", ${read("c")} }`,
    ],
    ["its own", `b: { exec: x, on_fail: { goto_js: "outputs.b.ok ? null : null" } }`],
    ["asked for with ?.", `a: { exec: x }, b: { exec: x, if: "outputs.a?.ok" }`],
    ["asked for with ??", `a: { exec: x }, b: { exec: x, if: "outputs.a ?? true" }`],
    ["tested before", `a: { exec: x }, b: { exec: x, if: "outputs.a && outputs.a.ok" }`],
    [
      "in a template that looks first",
      `a: { exec: x }, b: { exec: x, cwd: "{% if outputs.a %}{{ outputs.a.x }}{% endif %}" }`,
    ],
    ["with a default", `a: { exec: x }, b: { exec: x, cwd: "{{ outputs.a | default: 1 }}" }`],
    ["in a condition of a template", `a: { exec: x }, b: { exec: x, cwd: "{% if outputs.a %}y{% endif %}" }`],
    ["earlier ones", `a: { exec: x }, b: { exec: x, if: outputs.history.a.length }`],
    ["computed", `a: { exec: x }, b: { exec: x, if: "outputs[step.group]" }`],
    ["that of who runs it", `a: { exec: x, on_success: { run: b } }, b: { exec: x, ${read("a")} }`],
    [
      "an ancestor's of who runs it",
      `a: { exec: x }, c: { exec: x, depends_on: a, on_fail: { run: b } }, b: { exec: x, ${read("a")} }`,
    ],
    ["that of its repair", `b: { exec: x, on_fail: { run: a, goto_js: outputs.a.ok } }, a: { exec: x }`],
    [
      "that of what its dependency ran",
      `a: { exec: x }, c: { exec: x, on_success: { run: [a] } }, b: { exec: x, depends_on: c, ${read("a")} }`,
    ],
    [
      "that of who names it in run_js",
      `a: { exec: x }, c: { exec: x, depends_on: a, on_fail: { run_js: "['b']" } }, b: { exec: x, start: routed, ${read("a")} }`,
    ],
    [
      "anything, where only a computed run_js can lead to it",
      `a: { exec: x }, c: { exec: x, on_fail: { run_js: "[step.group]" } }, b: { exec: x, start: routed, ${read("a")} }`,
    ],
    [
      "an ancestor's of who goes back to it",
      `a: { exec: x }, b: { exec: x, ${read("a")} }, c: { exec: x, depends_on: [a, b], on_fail: { goto: b } }`,
    ],
    [
      "an ancestor's of whose goto_js goes back to it",
      `a: { exec: x }, b: { exec: x, ${read("a")} }, c: { exec: x, depends_on: [a, b], on_fail: { goto_js: "'b'" } }`,
    ],
    [
      "a branch's, in the reducer",
      `l: { exec: x, forEach: true }, w: { exec: x, depends_on: l }, a: { exec: x, depends_on: l }, b: { exec: x, depends_on: w, fanout: reduce, ${read("a")} }`,
    ],
    ["the item", `a: { exec: x, forEach: true }, b: { exec: x, depends_on: a, ${read("a")} }`],
    [
      "a branch's, in a step that the branch routes to",
      `l: { exec: x, forEach: true }, a: { exec: x, depends_on: l }, c: { exec: x, depends_on: a, on_fail: { run: b } }, b: { exec: x, ${read("a")} }`,
    ],
  ])("is not warned of: %s", (_, steps) => {
    expect(warnedOf(`steps: { ${steps} }`)).toEqual([]);
  });

  it("counts transitions as ways there, through each other", () => {
    const transitions = "transitions: [{ from: c, to: d, on: failure }, { from: d, to: b, on: failure }]";
    expect(
      warnedOf(
        `steps: { a: { exec: x }, c: { exec: x, depends_on: a }, d: { exec: x }, b: { exec: x, if: outputs.a.ok && outputs.c } }\n${transitions}`,
      ),
    ).toEqual([]);
  });

  it.each([
    ["a dependent's", `b: { exec: x, ${read("a")} }, a: { exec: x, depends_on: b }`],
    [
      "a dependent's, even where that goes back: it has lost it by then",
      `b: { exec: x, ${read("a")} }, a: { exec: x, depends_on: b, on_fail: { goto: b } }`,
    ],
    [
      "a repair's of somebody else",
      `c: { exec: x, on_fail: { run: a } }, a: { exec: x }, b: { exec: x, ${read("a")} }`,
    ],
  ])("is warned of: %s", (_, steps) => {
    expect(fullWarningsOf(`steps: { ${steps} }`, REAL_CHECKS)).toMatchObject([
      { code: "OUTPUT_MAY_BE_MISSING", message: missing("b", "a").split(" ").slice(1).join(" ") },
    ]);
  });

  it("is warned of where it stays within a fan-out", () => {
    expect(
      warnedOf(
        "steps: { l: { exec: x, forEach: true }, w: { exec: x, depends_on: l }, r: { exec: x, depends_on: w, fanout: reduce }, b: { exec: x, depends_on: r, if: outputs.w } }",
      ),
    ).toEqual([
      "1:152 OUTPUT_MAY_BE_MISSING `b` reads the output of `w`, which exists only within its fan-out",
    ]);
  });

  it("is warned of in the condition of a transition, for the step that it leaves", () => {
    const file = (when: string) =>
      `steps: { a: { exec: x }, c: { exec: x }, b: { exec: x } }\ntransitions: [{ from: c, to: b, when: ${when} }]`;
    expect(warnedOf(file("outputs.a.ok"))).toEqual([`2:39 ${missing("c", "a")}`]);
    expect(warnedOf(file("{ type: in_set, field: outputs.a.b, values: [1] }"))).toEqual([
      `2:62 ${missing("c", "a")}`,
    ]);
    expect(warnedOf(file("{ type: exists, field: outputs.a.b }"))).toEqual([]);
  });

  it("is warned of in the env of the workflow, which every step has", () => {
    expect(warnedOf('env: { A: "{{ outputs.a }}" }\nsteps: { a: { exec: x } }')).toEqual([
      "1:15 OUTPUT_MAY_BE_MISSING this variable of every step reads the output of `a`, but not every step runs after it",
    ]);
    expect(warnedOf('env: { A: "{{ outputs.a | default: 1 }}" }\nsteps: { a: { exec: x } }')).toEqual([]);
  });

  it("is not spoken of where the graph is in doubt", () => {
    expect(foundIn("steps: { a: { exec: x }, b: { exec: x, depends_on: c, if: outputs.a.ok } }")).toEqual([
      "1:52 UNKNOWN_STEP depends_on names the unknown step `c`",
    ]);
  });
});
