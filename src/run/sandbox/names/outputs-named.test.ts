import { describe, expect, test } from "vitest";
import { outputsNamedInCode, outputsNamedInTemplate } from "./find-names.js";

describe("the outputs that an expression names", () => {
  test.each<[string, string[]]>([
    ["return error.code === 'X'", []],
    ["outputs.build.version > 1", ["build"]],
    ["outputs?.build?.version", ["build"]],
    ["(outputs?.build).version", ["build"]],
    ["outputs['lint-fix'].ok && outputs[\"build\"].ok", ["lint-fix", "build"]],
    ["outputs.build.a + outputs.build.b + outputs.test.c", ["build", "test"]],
    ["outputs[`build`]", ["build"]],
    ["outputs[7]", ["7"]],
    ["outputs\n  .build\n  .version", ["build"]],
    ["outputs /* why */ .build", ["build"]],
    ["outputs.history.build.length < 3", ["history"]],
    ["outputs.lint-fix", ["lint"]],
    ["my_outputs.build + outputsOf(x)", []],
    ["'outputs.build' + /outputs.test/.source + x.outputs.y", []],
    ["\\u006futputs.build", ["build"]],
    ["const { build, test: { ok } = {} } = outputs; return build", ["build", "test"]],
    ["let a; ({ build: a } = outputs); return a", ["build"]],
    ["[1].map((x) => outputs.build[x])", ["build"]],
  ])("%s", (code, names) => {
    expect(outputsNamedInCode(code)).toEqual(names);
  });

  test.each([
    "outputs[name]",
    "outputs['a' + b]",
    "outputs[1n]",
    "outputs[null]",
    "Object.keys(outputs).length",
    "const { ...rest } = outputs; return rest",
    "const { [name]: build } = outputs; return build",
    "const {} = outputs; return 1",
    "const f = ({ build } = outputs) => build; return f()",
    "let a; return ({ build: a } = outputs)",
    "const o = outputs; return o.build",
    "const f = (outputs) => outputs.build; return f(outputs)",
    "({ ...outputs })",
    "outputs.hasOwnProperty('build')",
    "'build' in outputs",
    "globalThis['out' + 'puts'].build",
    "outputs.build && outputs",
  ])("all are needed for %s", (code) => {
    expect(outputsNamedInCode(code)).toBe("all");
  });

  test("of code that cannot be looked into nothing is known", () => {
    expect(outputsNamedInCode("outputs.(")).toBe("all");
  });
});

describe("the outputs that a template names", () => {
  test.each<[string, string[]]>([
    ["make {{ outputs.build.target | sh }} {{ inputs.x }}", ["build"]],
    ["{{ outputs['lint-fix'] }}{{ outputs.lint-fix.ok }}", ["lint-fix"]],
    ["{{ ['outputs'].build }}", ["build"]],
    ["[ -f x ] && echo {{ outputs.build }}", ["build"]],
    ["{{ 'x' | append: outputs.a, outputs.b | default: outputs.c }}", ["a", "b", "c"]],
    ["{% if outputs.a == outputs.b %}{{ outputs.c }}{% elsif outputs.d %}{% endif %}", ["a", "b", "d", "c"]],
    [
      "{% for x in outputs.a limit: outputs.b %}{{ x }}{% else %}{{ outputs.c }}{% endfor %}",
      ["a", "b", "c"],
    ],
    ["{% case outputs.a %}{% when outputs.b %}{% cycle outputs.c, 'x' %}{% endcase %}", ["a", "b", "c"]],
    ["{% liquid\nassign x = outputs.a\necho outputs.b\n%}", ["a", "b"]],
    ["{{ inputs.list[outputs.build.place] }}", ["build"]],
    ["outputs.build", []],
    ["{{ 1 }} outputs.build {% raw %}{{ outputs.a }}{% endraw %}", []],
    ["plain text", []],
  ])("%s", (template, names) => {
    expect(outputsNamedInTemplate(template)).toEqual(names);
  });

  test.each([
    "{% for output in outputs %}{{ output }}{% endfor %}",
    "{{ outputs | json }}",
    "{{ outputs.size }}",
    "{{ outputs[inputs.step] }}",
    "{% assign name = 'out' | append: 'puts' %}{{ [name].build }}",
    "{% assign outputs = outputs.build %}{{ outputs.test }}",
    "{% for outputs in inputs.list %}{{ outputs.test }}{% endfor %}",
    `{{ inputs.list | where_exp: "x", "x == outputs.build" }}`,
    "{{ outputs.build }} {{ outputs }}",
  ])("all are needed for %s", (template) => {
    expect(outputsNamedInTemplate(template)).toBe("all");
  });
});
