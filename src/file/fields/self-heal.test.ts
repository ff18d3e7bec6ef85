import { describe, expect, it } from "vitest";
import type { Definition } from "../../core/model/definition.js";
import { defineWorkflow } from "../builder.js";
import { workflowJsonSchema } from "../json-schema.js";
import { worstCase } from "../lint/worst-case.js";
import { loadDefinition } from "../load.js";

const load = (text: string) =>
  loadDefinition(text, {
    file: "heal.yaml",
    checkExpression: () => null,
    checkTemplate: () => null,
    customActions: ["own"],
  });

function definitionOf(text: string): Definition {
  const loaded = load(text);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.definition;
}

const problemsOf = (text: string) => {
  const loaded = load(text);
  return (loaded.ok ? loaded.warnings : loaded.problems).map(
    ({ code, line, column, message }) => `${code} ${line}:${column} ${message}`,
  );
};

const HEAL = "workspace: {}\nself_heal: true\n";
const STEPS = "steps:\n  a: { exec: x }\n";
const step = (definition: Definition, id: string) => definition.steps.find((each) => each.id === id)!;

describe("workspace, self_heal and queue", () => {
  it("have the defaults of the design", { tags: ["M12"] }, () => {
    expect(definitionOf(`${HEAL}queue: {}\n${STEPS}`)).toMatchObject({
      workspace: { repo: ".", ref: "HEAD", onLost: "set_aside" },
      selfHeal: {
        stepMaxAttempts: 3,
        stepTimeoutMs: 900_000,
        stepIdleTimeoutMs: 300_000,
        stepNoProgressLimit: 2,
        maxResets: 1,
      },
      queue: {
        maxAttempts: 3,
        backoff: { mode: "exponential", delayMs: 15_000, maxDelayMs: 600_000, jitter: 0 },
        classes: ["transient_runtime", "stuck_no_progress"],
      },
    });
  });

  it("take other values: seconds as numbers, or text with units", { tags: ["M12"] }, () => {
    const definition = definitionOf(
      `workspace: { repo: ../lib, ref: v1.2 }
self_heal: { step_max_attempts: 5, step_timeout_seconds: 60, step_idle_timeout_seconds: 10s, step_no_progress_limit: 3, job_self_heal_max_resets: 0 }
queue: { max_attempts: 7, backoff: { mode: fixed, delay_ms: 5s }, classes: [application] }
${STEPS}`,
    );
    expect(definition).toMatchObject({
      workspace: { repo: "../lib", ref: "v1.2" },
      selfHeal: { stepMaxAttempts: 5, stepTimeoutMs: 60_000, stepIdleTimeoutMs: 10_000, maxResets: 0 },
      queue: { maxAttempts: 7, backoff: { mode: "fixed", delayMs: 5000, maxDelayMs: 600_000 } },
    });
    expect(definitionOf(`self_heal: false\n${STEPS}`).selfHeal).toBeNull();
  });

  it("are the same from the builder", () => {
    const definition = defineWorkflow({
      name: "heal",
      workspace: { repo: "." },
      self_heal: { step_timeout_seconds: "2m" },
      queue: { classes: ["application"] },
      steps: { a: { exec: "x", progress: "files" }, b: { exec: "y", workspace: false } },
    });
    expect(step(definition, "a")).toMatchObject({
      usesWorkspace: true,
      progress: "files",
      timeoutMs: 120_000,
    });
    expect(step(definition, "b")).toMatchObject({ usesWorkspace: false, timeoutMs: null });
  });

  it.each([
    ["workspace: { ref: --upload-pack=x }\n", "INVALID_VALUE 1:19"],
    ["self_heal: { step_max_attempts: 0 }\n", "INVALID_VALUE 1:33"],
    ["self_heal: { step_timeout_seconds: 0 }\n", "INVALID_VALUE 1:36"],
    ["self_heal: { step_max_atempts: 2 }\n", "UNKNOWN_KEY 1:14"],
    ["queue: { classes: [deterministic_policy] }\n", "INVALID_VALUE 1:20"],
    ["queue: { max_attempts: 1.5 }\n", "INVALID_VALUE 1:24"],
  ])("are refused with their place: %s", (keys, expected) => {
    expect(problemsOf(`${keys}${STEPS}`)[0]).toMatch(expected);
  });

  it("stand at the top of the file", () => {
    expect(problemsOf("steps:\n  a: { exec: x, self_heal: true }\n")[0]).toBe(
      "UNKNOWN_KEY 2:17 unknown key `self_heal` here: it belongs at the top of the file",
    );
  });

  it("are in the JSON Schema", () => {
    expect(Object.keys((workflowJsonSchema() as { properties: object }).properties)).toEqual(
      expect.arrayContaining(["workspace", "self_heal", "queue"]),
    );
  });
});

describe("which steps work in the workspace", () => {
  const definition = definitionOf(`${HEAL}steps:
  command: { exec: x }
  agent: { type: agent, exec: x, prompt: p }
  custom: { type: own }
  out: { exec: x, workspace: false }
  http: { type: http, url: "http://127.0.0.1/" }
  script: { type: script, content: "1" }
  noop: { type: noop }
  human: { type: human, prompt: p }
`);

  it("is decided by the action, unless the step says otherwise", () => {
    expect(definition.steps.filter(({ usesWorkspace }) => usesWorkspace).map(({ id }) => id)).toEqual([
      "command",
      "agent",
      "custom",
    ]);
  });

  it.each([
    [`${STEPS.replace("x }", "x, workspace: true }")}`, "INVALID_VALUE 2:28 `workspace: true` needs"],
    [
      `workspace: {}\nsteps:\n  a: { type: noop, workspace: true }\n`,
      "INVALID_VALUE 3:31 a step of type `noop`",
    ],
    [`${STEPS.replace("x }", "x, progress: files }")}`, "INVALID_VALUE 2:27 `progress: files` watches"],
  ])("is refused where it cannot be honoured: %s", (text, expected) => {
    expect(problemsOf(text)[0]).toContain(expected);
  });
});

describe("self_heal", () => {
  it("gives attempts and timeouts to agents, model calls and steps of the workspace, and to no other", {
    tags: ["M12"],
  }, () => {
    const definition = definitionOf(`${HEAL}steps:
  command: { exec: x }
  ask: { type: llm_call, provider: openai, model: m, prompt: p }
  out: { exec: x, workspace: false }
  http: { type: http, url: "http://127.0.0.1/" }
`);
    const healed = {
      timeoutMs: 900_000,
      idleTimeoutMs: 300_000,
      noProgressLimit: 2,
      onFail: { retry: { max: 2 } },
    };
    const plain = { timeoutMs: null, idleTimeoutMs: null, noProgressLimit: null, onFail: { retry: null } };
    expect(definition.steps).toMatchObject([healed, healed, plain, plain]);
  });

  it("gives way to a step's own keys and wins over routing.defaults", () => {
    const definition =
      definitionOf(`${HEAL}routing: { defaults: { on_fail: { retry: { max: 7, backoff: { delay_ms: 9 } } } } }
steps:
  a: { exec: x }
  b: { exec: x, timeout_ms: 60s, on_fail: { retry: { max: 5 } } }
  c: { exec: x, idle_timeout_ms: 1s, on_fail: { retry: { on: [TIMEOUT] } } }
  d: { exec: x, workspace: false }
`);
    expect(definition.steps.map(({ onFail }) => onFail.retry?.max)).toEqual([2, 5, 2, 7]);
    expect(step(definition, "a").onFail.retry?.backoff.delayMs).toBe(9);
    expect(step(definition, "b")).toMatchObject({ timeoutMs: 60_000, idleTimeoutMs: null });
    expect(step(definition, "c")).toMatchObject({ timeoutMs: 900_000, idleTimeoutMs: 1000 });
  });

  it("without it no step has a timeout", () => {
    expect(step(definitionOf(`workspace: {}\n${STEPS}`), "a")).toMatchObject({
      timeoutMs: null,
      idleTimeoutMs: null,
      noProgressLimit: null,
    });
  });

  it.each([
    ["self_heal: true\n", "no step is healed by `self_heal`"],
    [
      "workspace: {}\nself_heal: { step_max_attempts: 2, step_no_progress_limit: 3 }\n",
      "step_no_progress_limit (3) is never reached",
    ],
    ["queue: { classes: [] }\n", "requeues nothing"],
  ])("warns of what changes nothing: %s", (keys, expected) => {
    expect(problemsOf(`${keys}${STEPS}`).join()).toContain(expected);
  });

  it("warns of a workspace that no step uses, and of files watched for nothing", () => {
    expect(problemsOf("workspace: {}\nsteps: { a: { type: noop } }").join()).toContain("no step works in");
    expect(problemsOf("workspace: {}\nsteps: { a: { exec: x, progress: files } }").join()).toContain(
      "no idle timeout",
    );
  });

  it("bounds the attempts of the worst case by rounds, retries and resets", () => {
    expect(worstCase(definitionOf(`${HEAL}${STEPS}`)).attempts).toBe(3);
    expect(worstCase(definitionOf(`${HEAL}queue: {}\n${STEPS}`)).attempts).toBe(9);
    expect(worstCase(definitionOf(`${HEAL}queue: {}\nrouting: { max_loops: 2 }\n${STEPS}`)).attempts).toBe(6);
    expect(worstCase(definitionOf(`queue: {}\n${STEPS}`)).attempts).toBe(3);
  });
});
