import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { DarumaError } from "../../core/errors/errors.js";
import { checkTemplate, renderDeep, renderTemplate } from "./template.js";

const variables = {
  inputs: { target: "it's; rm -rf /", empty: null },
  outputs: { build: { version: 3, tags: ["a", "b"], ok: true, nothing: null } },
  now: 0,
};

function failure(text: string): DarumaError {
  try {
    renderTemplate(text, variables);
  } catch (error) {
    if (error instanceof DarumaError) return error;
    throw error;
  }
  throw new Error(`${text} was rendered`);
}

test("a template that is nested too deeply is told so, not by the parser's stack", () => {
  const text = `${"{% if a %}".repeat(20_000)}${"{% endif %}".repeat(20_000)}`;
  expect(checkTemplate(text)).toEqual({ message: "it is nested too deeply" });
  expect(failure(text).message).toBe("it is nested too deeply");
});

describe("rendering a template", () => {
  test.each([
    ["no liquid { here } %}", "no liquid { here } %}"],
    ["v{{ outputs.build.version }}", "v3"],
    ["{{ outputs.build.tags }}", '["a","b"]'],
    ["{{ outputs.build }}", '{"version":3,"tags":["a","b"],"ok":true,"nothing":null}'],
    ["{{ outputs.build | raw }}", '{"version":3,"tags":["a","b"],"ok":true,"nothing":null}'],
    ["{{ outputs.build.tags | json }}", '["a","b"]'],
    ["{{ outputs.build.ok }} {{ inputs.empty }}|", "true |"],
    ["{{ inputs.other | default: 'x' }}", "x"],
    ["{% if inputs.other %}a{% else %}b{% endif %}", "b"],
    ["{% for tag in outputs.build.tags %}<{{ tag }}>{% endfor %}", "<a><b>"],
    ["{% raw %}{{ kept }}{% endraw %}", "{{ kept }}"],
    ["{{ now | date: '%Y-%m-%d %H:%M' }}", "1970-01-01 00:00"],
    ["{{ '<&>' }}", "<&>"],
  ])("%s", (text, expected) => {
    expect(renderTemplate(text, variables)).toBe(expected);
  });

  test("sh makes one shell word of anything", () => {
    for (const value of ["it's; rm -rf /", '$(id) `id` "x" \\ \n *', "", "''"]) {
      const command = renderTemplate("printf %s {{ value | sh }}", { value });
      expect(execFileSync("sh", ["-c", command], { encoding: "utf8" })).toBe(value);
    }
    expect(renderTemplate("{{ outputs.build.tags | sh }}", variables)).toBe(`'["a","b"]'`);
    expect(() => renderTemplate("{{ value | sh }}", { value: "a\0b" })).toThrow(/NUL/);
  });

  test.each([
    ["{{ outputs.biuld }}", "outputs.biuld"],
    ["{{ outputs.build.version.major }}", "outputs.build.version.major"],
    ["{{ nothing.at.all }}", "nothing"],
    ["rm -r {{ inputs.empty.folder }}/", "inputs.empty.folder"],
    ["{{ outputs.constructor }}", "outputs.constructor"],
    ["{{ outputs.__proto__ }}", "outputs.__proto__"],
    ["{{ outputs.build.tags.constructor }}", "outputs.build.tags.constructor"],
    ["{{ outputs['toString'] }}", "outputs.toString"],
  ])("an unknown variable is an error that names it: %s", (text, name) => {
    const error = failure(text);
    expect(error.code).toBe("TEMPLATE_ERROR");
    expect(error.message).toContain(`undefined variable: ${name} (line 1, column `);
  });

  test.each([
    ["a clock", "{{ 'now' | date: '%s' }}", /not the same twice/],
    ["a clock of another name", "{{ 'today' | date_to_xmlschema }}", /not the same twice/],
    ["a huge range", "{% for i in (1..1000000000) %}x{% endfor %}", /memory alloc limit/],
    [
      "endless work",
      "{% for i in (1..9999) %}{% for j in (1..9999) %}{% for k in (1..9999) %}x{% endfor %}{% endfor %}{% endfor %}",
      /limit exceeded/,
    ],
  ])("refuses %s", (_, text, reason) => {
    expect(failure(text)).toMatchObject({ code: "TEMPLATE_ERROR", message: expect.stringMatching(reason) });
  });

  test("one rendering leaves nothing behind for the next", () => {
    const text = "{% increment n %}{% assign seen = 1 %}{{ inputs.target | size }}";
    const frozen = Object.freeze({ ...variables });
    expect(renderTemplate(text, frozen)).toBe(renderTemplate(text, frozen));
    expect(failure("{{ seen }}").code).toBe("TEMPLATE_ERROR");
    expect(variables).not.toHaveProperty("n");
  });

  test("many different templates stay right", () => {
    for (let i = 0; i < 1_500; i++)
      expect(renderTemplate(`${i}{{ outputs.build.version }}`, variables)).toBe(`${i}3`);
    expect(renderTemplate("0{{ outputs.build.version }}", variables)).toBe("03");
  });

  test("texts in lists and objects are rendered, keys and other values are not", () => {
    const json = {
      "{{ k }}": ["{{ outputs.build.version }}", 1, null, { deep: "{{ inputs.target }}" }],
      on: true,
    };
    expect(renderDeep(json, (text) => renderTemplate(text, variables))).toEqual({
      "{{ k }}": ["3", 1, null, { deep: "it's; rm -rf /" }],
      on: true,
    });
  });
});

describe("checking a template", () => {
  test.each(["plain", "{{ a.b | sh }}", "{% if a %}b{% endif %}", "100 %} }}"])("%s is fine", (text) => {
    expect(checkTemplate(text)).toBeNull();
  });

  test.each([
    ["{{ a", 1, 1],
    ["first\n  {{ a | nosuchfilter }}", 2, 3],
    ["{% if a %}", 1, 1],
    ["{% nosuchtag %}", 1, 1],
    ["{% include 'file' %}", 1, 1],
    ["{% render 'file' %}", 1, 1],
    ["{% layout 'file' %}", 1, 1],
    ["{{ list | sample }}", 1, 1],
  ])("%s is refused with its place", (text, line, column) => {
    expect(checkTemplate(text)).toMatchObject({ line, column });
    expect(failure(text).code).toBe("TEMPLATE_SYNTAX");
  });
});
