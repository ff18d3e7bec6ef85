import { describe, expect, it } from "vitest";
import { fullWarningsOf, REAL_CHECKS } from "../../../../test/support/workflow-text.js";

const FILE = `inputs: { where: string, count: number, dry: { default: false } }
steps:
  list: { exec: ls }
  work:
    depends_on: list
    exec: LINE
`;

/** `line:column message hint` of each warning. */
const warnedOf = (line: string, file = FILE) =>
  fullWarningsOf(file.replace("LINE", JSON.stringify(line)), REAL_CHECKS).map(
    ({ line: at, column, code, message, hint }) => `${at}:${column} ${code} ${message} -> ${hint}`,
  );

describe("a value in a shell line", () => {
  it.each([
    "ls {{ inputs.where | sh }}",
    "ls {{ inputs.where | upcase | sh }}",
    "ls pre-{{ inputs.where | sh }}.txt",
    'echo "$(basename {{ inputs.where | sh }})"',
    "cat <<'EOF'\n{{ inputs.where }}\nEOF",
    "sleep {{ attempt }} {{ visit }} {{ loop }} {{ step.id }}",
    "echo {{ foreach.index }} of {{ foreach.total }} after {{ error.exitCode }}, {{ error.class }}",
    "sleep {{ inputs.count }}; echo {{ inputs.dry }} {{ outputs.list.size }}".replace(
      "outputs.list.size",
      "outputs.list | size",
    ),
    "sleep {{ outputs.list.n | plus: 1 }}",
    "echo {{ 'fixed' }} {{ 5 }}",
    "{% if inputs.where == 'x' %}ls{% endif %}",
    "{% assign w = inputs.where | sh %}ls {{ w }}",
    "{% capture w %}{{ inputs.where | sh }}{% endcapture %}ls {{ w }}",
    "{% for x in outputs.list %}{{ forloop.index }} {{ x | sh }}{% endfor %}",
    "echo plain text",
  ])("is in order: %s", (line) => {
    expect(warnedOf(line)).toEqual([]);
  });

  const unquoted = (shown: string) =>
    `UNQUOTED_IN_SHELL \`${shown}\` is not quoted: the shell would run its contents`;
  it.each([
    ["ls {{ inputs.where }}", `6:15 ${unquoted("{{ inputs.where }}")} -> Write \`{{ inputs.where | sh }}\`.`],
    ["ls {{inputs.where}}", `6:15 ${unquoted("{{inputs.where}}")} -> Write \`{{inputs.where | sh }}\`.`],
    [
      "ls '{{ inputs.where }}'",
      `6:16 ${unquoted("{{ inputs.where }}")} -> Write \`{{ inputs.where | sh }}\`, outside of the quotes.`,
    ],
    ["ls {{ foreach.key }}", `6:15 ${unquoted("{{ foreach.key }}")} -> Write \`{{ foreach.key | sh }}\`.`],
    [
      "ls {{ 'x' | append: inputs.where }}",
      `6:15 ${unquoted("{{ 'x' | append: inputs.where }}")} -> Write \`{{ 'x' | append: inputs.where | sh }}\`.`,
    ],
    [
      "{% echo inputs.where %}",
      `6:12 ${unquoted("{% echo inputs.where %}")} -> Write \`{% echo inputs.where | sh %}\`.`,
    ],
    [
      "{% for x in outputs.list %}{{ x }}{% endfor %}",
      `6:39 ${unquoted("{{ x }}")} -> Write \`{{ x | sh }}\`.`,
    ],
    ["{% assign w = inputs.where %}ls {{ w }}", `6:44 ${unquoted("{{ w }}")} -> Write \`{{ w | sh }}\`.`],
    [
      "cat <<EOF\n{{ inputs.where }}\nEOF",
      `6:23 ${unquoted("{{ inputs.where }}")} -> Quote the here-document's delimiter (\`<<'EOF'\`), or pass the value in \`env\`.`,
    ],
    ...["'", '"'].map((mark) => [
      `ls ${mark}{{ inputs.where | sh }}${mark}`,
      `6:${mark === "'" ? 16 : 17} UNQUOTED_IN_SHELL \`{{ inputs.where | sh }}\` is quoted twice -> Remove the quotes around it: \`| sh\` adds its own, and inside other quotes they do not protect.`,
    ]),
  ])("is warned of: %s", (line, warning) => {
    expect(warnedOf(line!)).toEqual([warning]);
  });

  it("is warned of once in a sweep of jobs, and in an agent's line", () => {
    const sweep = `inputs: { where: string }
jobs:
  - { name: "j_{i}", parameters: { i: "1:7" }, command: LINE }
`;
    expect(warnedOf("x {i:03d} {{ inputs.where }}", sweep)).toEqual([
      `3:68 ${unquoted("{{ inputs.where }}")} -> Write \`{{ inputs.where | sh }}\`.`,
    ]);
    const agent = "inputs: { where: string }\nsteps: { a: { type: agent, prompt: x, exec: LINE } }\n";
    expect(warnedOf("x {{ inputs.where }} {prompt}", agent)).toEqual([
      `2:48 ${unquoted("{{ inputs.where }}")} -> Write \`{{ inputs.where | sh }}\`.`,
    ]);
  });

  it("needs no quotes where no shell sees it", () => {
    const file = (rest: string) => `inputs: { where: string }\nsteps: { a: { ${rest} } }\n`;
    for (const rest of [
      'exec: [ls, "{{ inputs.where }}"]',
      'exec: cat, stdin: "{{ inputs.where }}", cwd: "{{ inputs.where }}", env: { A: "{{ inputs.where }}" }',
      'type: agent, exec: x, prompt: "{{ inputs.where }}"',
    ])
      expect(fullWarningsOf(file(rest), REAL_CHECKS)).toEqual([]);
  });
});
