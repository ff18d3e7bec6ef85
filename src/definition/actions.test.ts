import { describe, expect, it } from "vitest";
import { definitionOf, problemsOf } from "../../test/support/workflow-text.js";

const actionOf = (keys: string) => definitionOf(`steps: { a: { ${keys} } }`).steps[0]!.action;
const messagesOf = (keys: string) => problemsOf(`steps: { a: { ${keys} } }`).map(({ message }) => message);

describe("a human step", () => {
  it("has approve and reject to choose from, of which reject fails it", () => {
    expect(actionOf("type: human, prompt: Ship it?, timeout_ms: 1h")).toEqual({
      type: "human",
      prompt: "Ship it?",
      choices: ["approve", "reject"],
      reject: ["reject"],
    });
  });

  it("may have choices of its own", () => {
    expect(actionOf("type: human, prompt: p, choices: [yes, no, later], reject: [no]")).toMatchObject({
      choices: ["yes", "no", "later"],
      reject: ["no"],
    });
    expect(actionOf("kind: human, implementation: { prompt: p, choices: [go, wait] }")).toMatchObject({
      reject: [],
    });
    expect(actionOf("type: human, prompt: p, choices: [go, reject]")).toMatchObject({ reject: ["reject"] });
  });

  it.each([
    ["type: human", "the key `prompt` is missing"],
    ["type: human, prompt: p, choices: []", "the list is empty"],
    [
      "type: human, prompt: p, choices: [go, stop], reject: [sotp]",
      "`reject` names `sotp`, which is not among the choices, did you mean `stop`?",
    ],
    ["type: human, prompt: p, choices: [stop], reject: [stop]", "every choice fails the step"],
    [
      "type: human, prompt: p, exec: x",
      "unknown key `exec` here: it belongs to `type: command`, this step is `human`",
    ],
  ])("is refused: %s", (keys, message) => {
    expect(messagesOf(keys)).toEqual([message]);
  });
});

describe("a workflow step", () => {
  it("names a file and gives it inputs", () => {
    expect(
      actionOf("type: workflow, file: ./deploy.yaml, inputs: { target: '{{ inputs.t }}', n: 3 }"),
    ).toEqual({
      type: "workflow",
      file: "./deploy.yaml",
      inputs: { target: "{{ inputs.t }}", n: 3 },
    });
  });

  it.each([
    ["type: workflow", "the key `file` is missing"],
    ["type: workflow, file: ''", "the text is empty"],
    ["type: workflow, file: '{{ inputs.file }}'", "`{{ inputs.file }}` is not allowed here"],
    ["type: workflow, file: x.yaml, inputs: { 1a: 2 }", "`1a` is not allowed as a name"],
    ["type: workflow, file: x.yaml, inputs: [1]", "expected a map, found a list"],
  ])("is refused: %s", (keys, message) => {
    expect(messagesOf(keys)).toEqual([message]);
  });

  it("has the templates of its inputs compiled", () => {
    expect(
      problemsOf("steps: { a: { type: workflow, file: x, inputs: { t: ['{{'] } } }", {
        checkTemplate: () => ({ message: "not closed" }),
      }),
    ).toMatchObject([{ code: "TEMPLATE_SYNTAX", path: "steps.a.inputs.t[0]" }]);
  });
});

describe("a step in the form with kind, implementation and execution", () => {
  it("is read with its retry policy", () => {
    const [step] = definitionOf(`
steps:
  call:
    kind: http
    implementation: { url: http://127.0.0.1/ }
    execution:
      timeout_ms: 30000
      retry_policy: { max_attempts: 3, backoff: exponential, initial_delay_ms: 1000, max_delay_ms: 10000, retryable_errors: ['503', '429', TIMEOUT, NETWORK_ERROR] }
`).steps;
    expect(step).toMatchObject({
      action: { type: "http", url: "http://127.0.0.1/" },
      timeoutMs: 30_000,
      onFail: {
        retry: {
          max: 2,
          backoff: { mode: "exponential", delayMs: 1000, maxDelayMs: 10_000, jitter: 0 },
          on: ["503", "429", "TIMEOUT", "NETWORK_ERROR"],
        },
      },
    });
  });

  it("is refused for now where it calls a model", () => {
    expect(messagesOf("kind: llm_call, implementation: { model: m }")).toEqual([
      "the type `llm_call` is not supported yet",
    ]);
  });
});
