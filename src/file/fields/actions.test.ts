import { describe, expect, it } from "vitest";
import { definitionOf, problemsOf } from "../../../test/support/workflow-text.js";

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
      "`reject` names `sotp`, which is not one of the choices, did you mean `stop`?",
    ],
    ["type: human, prompt: p, choices: [stop], reject: [stop]", "every choice fails the step"],
    [
      "type: human, prompt: p, exec: x",
      "unknown key `exec` here: it belongs to `type: command or agent`, this step is `human`",
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

  it("may call a model", () => {
    expect(
      actionOf("kind: llm_call, implementation: { provider: anthropic, model: m, prompt: p }"),
    ).toMatchObject({ type: "llm_call", model: "m" });
    expect(messagesOf("kind: llm_call, implementation: { provider: anthropic, model: m }")).toEqual([
      "the key `prompt` is missing",
    ]);
  });
});

describe("an agent step", () => {
  it("has a command line or a profile, and a prompt", () => {
    expect(actionOf("type: agent, exec: [my-agent, 7], prompt: 'do {{ inputs.x }}', objective: o")).toEqual({
      type: "agent",
      exec: ["my-agent", "7"],
      prompt: "do {{ inputs.x }}",
      objective: "o",
    });
    expect(actionOf("type: agent, profile: codex, prompt_via: argument, prompt: p")).toEqual({
      type: "agent",
      profile: "codex",
      prompt_via: "argument",
      prompt: "p",
    });
  });

  it.each([
    ["type: agent, prompt: p", "an agent needs `exec` or `profile`"],
    ["type: agent, exec: x", "the key `prompt` is missing"],
    ["type: agent, exec: x, prompt: ''", "the text is empty"],
    ["type: agent, profile: codx, prompt: p", "`codx` is not allowed here, did you mean `codex`?"],
    ["type: agent, exec: x, prompt: p, prompt_via: pipe", "`pipe` is not allowed here"],
    ["type: agent, exec: x, prompt: p, promt: q", "unknown key `promt`, did you mean `prompt`?"],
    [
      "type: agent, exec: x, prompt: p, model: m",
      "unknown key `model` here: it belongs to `type: llm_call`, this step is `agent`",
    ],
    ["kind: agent, implementation: { prompt: p }", "an agent needs `exec` or `profile`"],
  ])("is refused: %s", (keys, message) => {
    expect(messagesOf(keys)).toEqual([message]);
  });

  it.each(["prompt", "objective", "exec"])("has the template in %s compiled", (key) => {
    const keys = { exec: "x", prompt: "p", objective: "o", [key]: "{{" };
    const step = Object.entries(keys).map(([name, value]) => `${name}: '${value}'`);
    expect(
      problemsOf(`steps: { a: { type: agent, ${step.join(", ")} } }`, {
        checkTemplate: (text) => (text === "{{" ? { message: "not closed" } : null),
      }),
    ).toMatchObject([{ code: "TEMPLATE_SYNTAX", path: `steps.a.${key}` }]);
  });
});

describe("a model call", () => {
  const call = "type: llm_call, provider: openai, model: m, prompt: p";

  it("has all that a request needs", () => {
    const more = "temperature: 0.2, max_output_tokens: 10, schema: { type: object }";
    const where = "base_url: 'http://127.0.0.1/v1', api_key_env: MY_KEY, system: s";
    expect(actionOf(`${call}, ${where}, ${more}`)).toEqual({
      type: "llm_call",
      provider: "openai",
      model: "m",
      prompt: "p",
      base_url: "http://127.0.0.1/v1",
      api_key_env: "MY_KEY",
      system: "s",
      temperature: 0.2,
      max_output_tokens: 10,
      schema: { type: "object" },
    });
  });

  it.each([
    ["openai", ["OPENAI_API_KEY"]],
    ["anthropic", ["ANTHROPIC_API_KEY"]],
    ["google", ["GOOGLE_GENERATIVE_AI_API_KEY"]],
    ["openai-compatible", []],
  ])("looks for the key of %s where everybody keeps it, and keeps it secret", (provider, secrets) => {
    const step = `{ type: llm_call, provider: ${provider}, base_url: 'http://x', model: m, prompt: p }`;
    expect(definitionOf(`steps: { a: ${step} }`).secrets).toEqual(secrets);
  });

  it("adds its key to the secrets once", () => {
    const text = `secrets: [OTHER, MY_KEY]\nsteps: { a: { ${call}, api_key_env: MY_KEY } }`;
    expect(definitionOf(text).secrets).toEqual(["OTHER", "MY_KEY"]);
    expect(definitionOf(`steps: { a: { ${call}, api_key_env: MY_KEY } }`).secrets).toEqual(["MY_KEY"]);
  });

  it.each([
    [
      "type: llm_call, provider: openai-compatible, model: m, prompt: p",
      "the provider `openai-compatible` needs `base_url`",
    ],
    [
      "type: llm_call, provider: opnai, model: m, prompt: p",
      "`opnai` is not allowed here, did you mean `openai`?",
    ],
    ["type: llm_call, provider: openai, prompt: p", "the key `model` is missing"],
    ["type: llm_call, provider: openai, model: m", "the key `prompt` is missing"],
    [`${call}, api_key_env: sk-12345`, "`sk-12345` is not allowed here"],
    [`${call}, temperature: 3`, "`3` is outside what is allowed: a number from 0 to 2"],
    [`${call}, max_output_tokens: 0`, "`0` is outside what is allowed: a whole number from 1 to 10000000"],
    [`${call}, schema: [1]`, "expected a JSON Schema (a map), found a list"],
    [`${call}, top_p: 1`, "unknown key `top_p`"],
  ])("is refused: %s", (keys, message) => {
    expect(messagesOf(keys)).toEqual([message]);
  });

  it("is refused with a schema that cannot be checked", () => {
    expect(messagesOf(`${call}, schema: { type: object, if: { type: object } }`)).toMatchObject([
      expect.stringContaining("the schema at"),
    ]);
  });

  it.each(["prompt", "system", "model", "base_url"])("has the template in %s compiled", (key) => {
    const keys = { provider: "openai", prompt: "p", system: "s", model: "m", base_url: "b", [key]: "{{" };
    const step = Object.entries(keys).map(([name, value]) => `${name}: '${value}'`);
    expect(
      problemsOf(`steps: { a: { type: llm_call, ${step.join(", ")} } }`, {
        checkTemplate: (text) => (text === "{{" ? { message: "not closed" } : null),
      }),
    ).toMatchObject([{ code: "TEMPLATE_SYNTAX", path: `steps.a.${key}` }]);
  });
});
