import { describe, expect, it } from "vitest";
import { definitionOf, problemsOf, REAL_CHECKS } from "../../../../test/support/workflow-text.js";

const STEPS = "steps: { a: { exec: x } }";
const INPUTS = "inputs: { ref: { type: string, default: main }, count: { type: number, default: 1 } }";
const textOf = (webhook: string): string => `${INPUTS}\ntriggers: { webhook: ${webhook} }\n${STEPS}`;

describe("triggers.webhook", () => {
  it("has its defaults, and keeps templates for the request", { tags: ["K7"] }, () => {
    const read = (webhook: string) => definitionOf(textOf(webhook), REAL_CHECKS).webhook;
    expect(read("{ secret: HOOK }")).toEqual({
      ...{ secret: { variable: "HOOK" }, form: "standard", when: null, inputs: {} },
    });
    const whole = `{ secret: { file: /run/hook }, form: github, when: "event === 'push' && body.ref", inputs: { ref: "{{ body.ref }}", count: 2 } }`;
    expect(read(whole)).toEqual({
      ...{ secret: { file: "/run/hook" }, form: "github", when: "event === 'push' && body.ref" },
      inputs: { ref: "{{ body.ref }}", count: 2 },
    });
    expect(definitionOf(STEPS).webhook).toBeUndefined();
  });

  it.each([
    ["{ form: github }", "2:22 triggers.webhook MISSING_KEY the key `secret` is missing"],
    [
      "{ secret: 'whsec_abc/def=' }",
      "2:32 triggers.webhook.secret INVALID_VALUE `whsec_abc/def=` is not allowed here",
    ],
    [
      "{ secret: { file: hook } }",
      "2:40 triggers.webhook.secret.file INVALID_VALUE `hook` is not allowed here",
    ],
    [
      "{ secret: H, form: gitlab }",
      "2:41 triggers.webhook.form INVALID_VALUE `gitlab` is not allowed here, did you mean `github`?",
    ],
    [
      "{ secret: H, when: 'body.ref ==' }",
      "2:42 triggers.webhook.when EXPRESSION_SYNTAX Unexpected end of input",
    ],
    ["{ secret: H, when: 'inputs.ref' }", "2:42 triggers.webhook.when UNKNOWN_NAME unknown name `inputs`"],
    [
      "{ secret: H, inputs: { ref: '{{ bdy.ref }}' } }",
      "2:54 triggers.webhook.inputs.ref UNKNOWN_NAME unknown name `bdy`, did you mean `body`?",
    ],
    [
      "{ secret: H, inputs: { rev: '{{ body.ref }}' } }",
      "2:50 triggers.webhook.inputs.rev INVALID_INPUT unknown input `rev`, did you mean `ref`?",
    ],
    [
      "{ secret: H, inputs: { count: many } }",
      "2:52 triggers.webhook.inputs.count INVALID_INPUT the input `count` must be a number, found `many`",
    ],
    ["{ secret: H, path: /x }", "2:35 triggers.webhook.path UNKNOWN_KEY unknown key `path`"],
  ])("refuses %s", { tags: ["K7"] }, (webhook, problem) => {
    const found = problemsOf(textOf(webhook), REAL_CHECKS).map(
      ({ code, message, line, column, path }) => `${line}:${column} ${path} ${code} ${message}`,
    );
    expect(found).toEqual([problem]);
  });

  it("must give every input that has no default", { tags: ["K7"] }, () => {
    const text = `inputs: { ref: string }\ntriggers: { webhook: { secret: H } }\n${STEPS}`;
    expect(problemsOf(text)).toMatchObject([
      {
        ...{ code: "INVALID_INPUT", line: 2, message: "the input `ref` is missing" },
        hint: "Give `ref` a value under `inputs` of the webhook, or a default.",
      },
    ]);
    const given = `inputs: { ref: string }\ntriggers: { webhook: { secret: H, inputs: { ref: "{{ body.ref }}" } } }\n${STEPS}`;
    expect(problemsOf(given)).toEqual([]);
  });
});
