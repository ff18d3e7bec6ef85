import { describe, expect, it } from "vitest";
import { definitionOf, problemsOf, summaryOf } from "../../../test/support/workflow-text.js";

const withRules = (rules: string) => `failure_handlers:
  - name: h
    rules: ${rules}
steps: { a: { exec: x, failure_handler: h } }
`;

describe("failure handlers", () => {
  it("are read with their rules, the defaults filled in", () => {
    const definition = definitionOf(`
unhandled: hold
failure_handlers:
  - name: sim_recovery
    rules:
      - { exit_codes: [10, 11, 10], recovery_script: ./fix.sh, recovery_timeout_ms: 5m, max_retries: 4 }
      - { exit_codes: 12, max_attempts: 1 }
      - { match_all_exit_codes: true }
steps: { a: { exec: x, failure_handler: sim_recovery, summarize: tail -5 } }
`);
    expect(definition.unhandled).toBe("hold");
    expect(definition.failureHandlers).toEqual([
      {
        name: "sim_recovery",
        rules: [
          {
            exitCodes: [10, 11],
            matchAll: false,
            recoveryScript: "./fix.sh",
            recoveryTimeoutMs: 300_000,
            maxAttempts: 4,
          },
          {
            exitCodes: [12],
            matchAll: false,
            recoveryScript: null,
            recoveryTimeoutMs: 300_000,
            maxAttempts: 1,
          },
          { exitCodes: [], matchAll: true, recoveryScript: null, recoveryTimeoutMs: 300_000, maxAttempts: 3 },
        ],
      },
    ]);
    expect(definition.steps[0]).toMatchObject({ failureHandler: "sim_recovery", summarize: "tail -5" });
  });

  it.each([
    ["[{ max_retries: 3 }]", "MISSING_KEY 3:13 failure_handlers[0].rules[0]"],
    ["[{ exit_codes: [] }]", "MISSING_KEY 3:13 failure_handlers[0].rules[0]"],
    ["[{ match_all_exit_codes: false }]", "MISSING_KEY 3:13 failure_handlers[0].rules[0]"],
    ["[]", "INVALID_VALUE 3:12 failure_handlers[0].rules"],
    ["[{ exit_codes: [256] }]", "INVALID_VALUE 3:28 failure_handlers[0].rules[0].exit_codes[0]"],
    ["[{ exit_codes: [1.5] }]", "INVALID_VALUE 3:28 failure_handlers[0].rules[0].exit_codes[0]"],
    ["[{ exit_codes: [1], max_retries: 0 }]", "INVALID_VALUE 3:45 failure_handlers[0].rules[0].max_retries"],
    [
      "[{ exit_codes: [1], max_retries: 2, max_attempts: 2 }]",
      "INVALID_VALUE 3:48 failure_handlers[0].rules[0].max_attempts",
    ],
    ["[{ exit_codes: [1], retries: 2 }]", "UNKNOWN_KEY 3:32 failure_handlers[0].rules[0].retries"],
    ["[{ exit_codes: [137], scale: {} }]", "MISSING_KEY 3:41 failure_handlers[0].rules[0].scale"],
    [
      "[{ exit_codes: [137], scale: { max_memory: 1g, runtime: 2 } }]",
      "MISSING_KEY 3:43 failure_handlers[0].rules[0].scale.max_memory",
    ],
    [
      "[{ exit_codes: [137], scale: { memory: 1 } }]",
      "INVALID_VALUE 3:51 failure_handlers[0].rules[0].scale.memory",
    ],
    [
      "[{ exit_codes: [137], scale: { memory: 2, max_memory: lots } }]",
      "INVALID_VALUE 3:66 failure_handlers[0].rules[0].scale.max_memory",
    ],
    [
      "[{ exit_codes: [137], scale: { memroy: 2 } }]",
      "UNKNOWN_KEY 3:43 failure_handlers[0].rules[0].scale.memroy",
    ],
    ["[{ exit_codes: [137], scale: 2 }]", "WRONG_TYPE 3:41 failure_handlers[0].rules[0].scale"],
    [
      "[{ exit_codes: [1, 2] }, { exit_codes: [3, 2] }]",
      "INVALID_VALUE 3:55 failure_handlers[0].rules[1].exit_codes[1]",
    ],
    [
      "[{ match_all_exit_codes: true }, { match_all_exit_codes: true }]",
      "INVALID_VALUE 3:69 failure_handlers[0].rules[1].match_all_exit_codes",
    ],
  ])("refuse %s", (rules, summary) => {
    expect(summaryOf(withRules(rules))).toEqual([summary]);
  });

  it("scale memory and runtime, each with its limit", () => {
    const scales = definitionOf(
      withRules(
        "[{ exit_codes: [137], scale: { memory: 1.5, max_memory: 64g, runtime: 1.4, max_runtime: PT4H } }, { exit_codes: [152], scale: { runtime: 2 } }]",
      ),
    ).failureHandlers[0]!.rules.map((rule) => rule.scale);
    expect(scales).toEqual([
      { memory: { factor: 1.5, max: 64 * 1024 ** 3 }, runtime: { factor: 1.4, max: 14_400_000 } },
      { runtime: { factor: 2, max: null } },
    ]);
  });

  it("must have different names", () => {
    const handler = "{ name: h, rules: [{ exit_codes: [1] }] }";
    expect(
      summaryOf(`failure_handlers: [${handler}, ${handler}]\nsteps: { a: { exec: x, failure_handler: h } }`),
    ).toEqual(["DUPLICATE_ID 1:71 failure_handlers[1].name"]);
  });

  it("must exist where a step names one", () => {
    const text = `failure_handlers: [{ name: recovery, rules: [{ exit_codes: [1] }] }]
steps:
  a: { exec: x, failure_handler: recovrey }
`;
    expect(problemsOf(text)).toMatchObject([
      {
        code: "UNKNOWN_HANDLER",
        message: "the file has no failure handler `recovrey`, did you mean `recovery`?",
        line: 3,
        path: "steps.a.failure_handler",
      },
    ]);
  });

  it.each(["transitions", "unhandled", "failure_handlers", "route_on"])(
    "and their like have no place in a step: %s",
    (key) => {
      const [problem] = problemsOf(`steps: { a: { exec: x, ${key}: x } }`);
      expect(problem).toMatchObject({ code: "UNKNOWN_KEY", path: `steps.a.${key}` });
      expect(problem?.message).toContain("at the top of the file");
    },
  );
});

describe("resource_requirements", () => {
  it.each([
    [
      "{ num_cpus: 4, memory: 512m, runtime: PT30M }",
      { cpus: 4, memoryBytes: 536_870_912, runtimeMs: 1_800_000 },
    ],
    ["{ memory: 2g, runtime: 30m }", { cpus: 1, memoryBytes: 2_147_483_648, runtimeMs: 1_800_000 }],
    ["{ memory: 1.5GiB }", { cpus: 1, memoryBytes: 1_610_612_736, runtimeMs: null }],
    ["{ memory: 1000, num_gpus: 0, num_nodes: 1 }", { cpus: 1, memoryBytes: 1000, runtimeMs: null }],
    ["{ num_gpus: 2, num_nodes: 4 }", { cpus: 1, memoryBytes: null, runtimeMs: null, gpus: 2, nodes: 4 }],
    ["large", { cpus: 8, memoryBytes: 1024, runtimeMs: null }],
  ])("of a step are read: %s", (given, resources) => {
    const text = `resource_requirements: [{ name: large, num_cpus: 8, memory: 1k }]
steps: { a: { exec: x, resource_requirements: ${given} } }`;
    expect(definitionOf(text).steps[0]!.resources).toEqual(resources);
  });

  it.each([
    ["{ memory: lots }", "`lots` is not a size"],
    ["{ memory: 0m }", "`0m` is not a size"],
    ["{ runtime: soon }", "`soon` is not a supported duration"],
    ["{ runtime: 30 }", "expected a duration such as `PT30M` or `30m`, found `30`"],
    ["{ num_gpus: 1001 }", "`1001` is outside what is allowed: a whole number from 0 to 1000"],
    ["{ num_nodes: 0 }", "`0` is outside what is allowed: a whole number from 1 to 100000"],
    ["{ num_cpu: 2 }", "unknown key `num_cpu`, did you mean `num_cpus`?"],
    ["large", "the file has no resource requirements `large`"],
  ])("are refused: %s", (given, message) => {
    expect(problemsOf(`steps: { a: { exec: x, resource_requirements: ${given} } }`)).toMatchObject([
      { message },
    ]);
  });
});
