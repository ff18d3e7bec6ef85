import { describe, expect, test } from "vitest";
import { outputsNamed } from "./template-variables.js";

describe("the outputs that code or a template names", () => {
  test.each([
    ["return error.code === 'X'", []],
    ["outputs.build.version > 1", ["build"]],
    ["outputs?.build?.version", ["build"]],
    ["outputs['lint-fix'].ok && outputs[\"build\"].ok", ["lint-fix", "build"]],
    ["outputs.build.a + outputs.build.b + outputs.test.c", ["build", "test"]],
    ["outputs[`build`]", ["build"]],
    ["outputs\n  .build\n  .version", ["build"]],
    ["outputs.history.build.length < 3", ["history"]],
    ["my_outputs.build + outputsOf(x)", []],
    ["make {{ outputs.build.target | sh }} {{ inputs.x }}", ["build"]],
    ["{{ outputs['lint-fix'] }}", ["lint-fix"]],
    ["[ -f x ] && echo {{ outputs.build }}", ["build"]],
    ["plain text", []],
  ])("%s", (text, names) => {
    expect(outputsNamed(text)).toEqual(names);
  });

  test("a hyphenated name is read both as a step and as a subtraction", () => {
    expect(outputsNamed("{{ outputs.lint-fix.ok }}")).toEqual(["lint", "lint-fix"]);
  });

  test.each([
    "outputs[name]",
    "outputs['a' + b]",
    "outputs['\\x61']",
    "Object.keys(outputs).length",
    "const { build } = outputs; return build",
    "const o = outputs; return o.build",
    "({ ...outputs })",
    "outputs.hasOwnProperty('build')",
    "outputs /* why */ .build",
    "globalThis['out' + 'puts'].build",
    "\\u006futputs.build",
    "{% for output in outputs %}{{ output }}{% endfor %}",
    "{{ outputs | json }}",
    "{{ outputs.size }}",
    "{% assign name = 'out' | append: 'puts' %}{{ [name].build }}",
    "{{ outputs.build }} {{ outputs }}",
  ])("all are needed for %s", (text) => {
    expect(outputsNamed(text)).toBe("all");
  });
});
