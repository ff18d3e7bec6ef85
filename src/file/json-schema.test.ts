import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ACTION_FIELDS } from "./fields/action-fields.js";
import { JOB_FIELDS } from "./fields/job-fields.js";
import { STEP_FIELDS } from "./fields/step-fields.js";
import { BATCH_KEYS, WORKFLOW_FIELDS } from "./fields/workflow-fields.js";
import { workflowJsonSchema } from "./json-schema.js";
import { loadDefinition } from "./load.js";
import type { Fields } from "./read/schema.js";

type Schema = { [key: string]: unknown };
const root = workflowJsonSchema() as Schema;
const definitions = root.$defs as Record<string, Schema>;

const typeOf = (value: unknown) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

/** The parts of JSON Schema that ours uses; an unknown keyword would pass unseen, so those are listed too. */
const CHECKS: Record<string, (argument: never, value: unknown, schema: Schema) => boolean> = {
  $ref: (name: string, value) => fits(definitions[name.replace("#/$defs/", "")]!, value),
  type: (types: string | string[], value) =>
    [types].flat().some((type) => type === typeOf(value) || (type === "integer" && Number.isInteger(value))),
  enum: (words: unknown[], value) => words.includes(value),
  const: (word: unknown, value) => word === value,
  not: (schema: Schema, value) => !fits(schema, value),
  anyOf: (schemas: Schema[], value) => schemas.some((schema) => fits(schema, value)),
  allOf: (schemas: Schema[], value) => schemas.every((schema) => fits(schema, value)),
  oneOf: (schemas: Schema[], value) => schemas.filter((schema) => fits(schema, value)).length === 1,
  required: (keys: string[], value) =>
    typeOf(value) !== "object" || keys.every((key) => Object.hasOwn(value as object, key)),
  dependentRequired: (needed: Record<string, string[]>, value) =>
    typeOf(value) !== "object" ||
    Object.entries(needed).every(
      ([key, keys]) =>
        !Object.hasOwn(value as object, key) || keys.every((each) => Object.hasOwn(value as object, each)),
    ),
  properties: (properties: Record<string, Schema>, value) =>
    typeOf(value) !== "object" ||
    Object.entries(value as object).every(
      ([key, part]) => !Object.hasOwn(properties, key) || fits(properties[key]!, part),
    ),
  additionalProperties: (schema: Schema | false, value, whole) => {
    if (typeOf(value) !== "object") return true;
    const known = Object.keys((whole.properties as object) ?? {});
    return Object.entries(value as object).every(
      ([key, part]) => known.includes(key) || (schema !== false && fits(schema, part)),
    );
  },
  propertyNames: (schema: Schema, value) =>
    typeOf(value) !== "object" || Object.keys(value as object).every((key) => fits(schema, key)),
  items: (schema: Schema, value) => !Array.isArray(value) || value.every((item) => fits(schema, item)),
  minItems: (count: number, value) => !Array.isArray(value) || value.length >= count,
  minimum: (least: number, value) => typeof value !== "number" || value >= least,
  maximum: (most: number, value) => typeof value !== "number" || value <= most,
  minLength: (count: number, value) => typeof value !== "string" || value.length >= count,
  maxLength: (count: number, value) => typeof value !== "string" || value.length <= count,
  pattern: (pattern: string, value) => typeof value !== "string" || new RegExp(pattern, "u").test(value),
};
const WORDS_ONLY = new Set(["$schema", "$defs", "title", "description", "default"]);

function fits(schema: Schema, value: unknown): boolean {
  return Object.entries(schema).every(([keyword, argument]) => {
    if (WORDS_ONLY.has(keyword)) return true;
    const check = CHECKS[keyword];
    if (check === undefined) throw new Error(`the schema uses ${keyword}, which this test does not know`);
    return check(argument as never, value, schema);
  });
}

const GOOD = [
  "description: d\nuser: u\nparameters: { i: '1:3' }\nuse_pending_failed: false\njobs: [{ name: 'a_{i}', command: x, use_parameters: [i], invocation_script: sh, depends_on_regexes: ['^b'], supports_termination: false }]",
  "description: d\nsteps: { a: { exec: x, description: what it is for } }",
  "steps: { a: { exec: x } }",
  "checks: { a: { kind: command, implementation: { exec: [a, 1] } } }",
  "steps: { a: { type: greet, who: x } }",
  `
unhandled: hold
failure_handlers:
  - name: h
    rules: [{ exit_codes: [10, 11], recovery_script: ./fix.sh, recovery_timeout_ms: 5m, max_retries: 3 }, { match_all_exit_codes: true, scale: { memory: 1.5, max_memory: 2g, runtime: 1.4, max_runtime: 4h } }]
resource_requirements: [{ name: small, num_cpus: 2, memory: 2g, runtime: PT30M }]
transitions:
  - { from: a, to: b, on: failure, priority: 1 }
  - { from_node_id: a, to_node_id: c, condition: { type: not, condition: { type: exists, field: { type: field, path: state._last_error } } } }
  - { from: b, to: c, on: any, when: { type: comparison, operator: ==, left: error.code, right: { type: literal, value: 3 } } }
  - { from: c, to: d, when: "outputs.c > 1" }
steps:
  a: { exec: x, failure_handler: h, resource_requirements: small, summarize: tail -3 }
  b: { type: human, prompt: Go on?, choices: [go, stop], reject: [stop] }
  c: { type: workflow, file: other.yaml, inputs: { n: 1 } }
  d: { exec: x, resource_requirements: { memory: 512m } }
`,
  `
jobs:
  - { name: prep, command: x }
  - { name: "train_{i}", command: "t {i}", parameters: { i: "1:3", lr: [0.1, a] }, parameter_mode: zip, depends_on: [prep], env: { I: "{i}" }, on_fail: { retry: { max: 1 } } }
`,
  `
version: "2.0"
name: release
inputs: { target: { type: string, default: staging }, n: number }
env: { CI: "1", N: 5 }
secrets: [DEPLOY_TOKEN]
routing: { max_loops: 10, defaults: { on_fail: { retry: { max: 0, backoff: { mode: fixed, delay_ms: 2000 } } } } }
failure_policy: fail_fast
max_recoveries: 5
steps:
  setup: { type: command, exec: npm ci, for_each: true }
  test:
    exec: npm test
    depends_on: [setup, "a|b"]
    timeout_ms: 10m
    on_fail: { retry: { max: 2, backoff: exponential, on: [503, TIMEOUT] }, run: fix, run_js: x, goto: setup, goto_js: y, goto_max: 2 }
    on_success: { run: [notify], goto: { step: setup, max: 1 } }
    execution: { retry_policy: { max_attempts: 3 } }
  mended: { exec: x, on_fail: { run: { steps: [fix], max: 2 } } }
  a: { type: http, url: u, method: POST, headers: { A: 1 }, body: [1], expect_status: [200, 2xx] }
  b: { type: script, content: x, if: false }
  sum: { type: noop, output: null, fanout: reduce, join: { at_least: 2 }, tags: x, group: g, outputs: {} }
`,
];

const BAD = [
  "steps: { a: { exec: x } }\njobs: [{ name: a, command: x }]",
  "jobs: [{ name: a }]",
  "jobs: [{ name: a, command: x, forEach: true }]",
  "jobs: [{ name: a, command: x, parameters: { i: {} } }]",
  "steps: { a: { exec: x } }\nunhandled: wait",
  "steps: { a: { exec: x } }\nfailure_handlers: [{ name: h, rules: [{ max_retries: 1 }] }]",
  "steps: { a: { exec: x } }\nfailure_handlers: [{ name: h, rules: [{ exit_codes: [1], max_retries: 1, max_attempts: 1 }] }]",
  "steps: { a: { exec: x } }\nfailure_handlers: [{ name: h, rules: [{ exit_codes: [300] }] }]",
  "steps: { a: { exec: x } }\nfailure_handlers: [{ name: h, rules: [{ exit_codes: [137], scale: {} }] }]",
  "steps: { a: { exec: x } }\nfailure_handlers: [{ name: h, rules: [{ exit_codes: [137], scale: { max_memory: 1g } }] }]",
  "steps: { a: { exec: x } }\nfailure_handlers: [{ name: h, rules: [{ exit_codes: [137], scale: { memory: 0.5 } }] }]",
  "steps: { a: { exec: x }, b: { exec: x } }\ntransitions: [{ from: a }]",
  "steps: { a: { exec: x }, b: { exec: x } }\ntransitions: [{ from: a, to: b, on: never }]",
  "steps: { a: { exec: x }, b: { exec: x } }\ntransitions: [{ from: a, to: b, when: { type: exists } }]",
  "steps: { a: { exec: x }, b: { exec: x } }\ntransitions: [{ from: a, to: b, when: { type: exists, field: nothing } }]",
  "steps: { a: { exec: x }, b: { exec: x } }\ntransitions: [{ from: a, to: b, when: { type: not, condition: { type: and, conditions: [] } } }]",
  "steps: { a: { exec: x, resource_requirements: { num_nodes: 0 } } }",
  "steps: { a: { type: human } }",
  "steps: { a: { type: workflow, file: '{{ x }}' } }",
  "steps: []",
  "name: x",
  "steps: { a: { exec: x } }\nchecks: { a: { exec: x } }",
  "steps: { a: { exec: x, typo: 1 } }",
  "steps: { a: { type: command } }",
  "steps: { a: { type: agent, prompt: x } }",
  "steps: { a: { type: http, exec: x } }",
  "steps: { a: { exec: x, on_fail: { typo: 1 } } }",
  "steps: { a: { exec: x, on_fail: { retry: { max: -1 } } } }",
  "steps: { r: { exec: x }, a: { exec: x, depends_on: r, on_fail: { goto: { max: 1 } } } }",
  "steps: { r: { exec: x }, a: { exec: x, depends_on: r, on_fail: { goto: { step: r, most: 1 } } } }",
  "steps: { r: { exec: x }, a: { exec: x, depends_on: r, on_fail: { goto: { step: r, max: 1 }, goto_max: 1 } } }",
  "steps: { r: { exec: x }, a: { exec: x, depends_on: r, on_success: { goto: { step: r, max: 1 }, goto_max: 1 } } }",
  "steps: { r: { exec: x }, a: { exec: x, depends_on: r, on_success: { goto: r, goto_max: -1 } } }",
  "steps: { r: { exec: x }, a: { exec: x, on_fail: { run: { steps: [r], max: 1 }, run_max: 1 } } }",
  "steps: { r: { exec: x }, a: { exec: x, on_fail: { run: { max: 1 } } } }",
  "steps: { r: { exec: x }, a: { exec: x, on_success: { run: { steps: [r], max: 1 } } } }",
  "steps: { r: { exec: x }, a: { exec: x, on_success: { run: [r], run_max: 1 } } }",
  "steps: { a: { exec: x, join: some } }",
  "steps: { 'a b': { exec: x } }",
  "env: { DARUMA_X: 1 }\nsteps: { a: { exec: x } }",
  ...BATCH_KEYS.map((key) => `steps: { a: { exec: x } }\n${key}: {}`),
  "use_pending_failed: true\nsteps: { a: { exec: x } }",
  "jobs: [{ name: a, command: x, use_parameters: { a: 1 } }]",
];

describe("the JSON Schema", () => {
  it.each(GOOD)("accepts a good file: %s", (text) => {
    expect(fits(root, parse(text))).toBe(true);
  });

  it.each(BAD)("refuses what the loader refuses: %s", (text) => {
    expect(
      loadDefinition(text, { file: "x", checkExpression: () => null, checkTemplate: () => null }).ok,
    ).toBe(false);
    expect(fits(root, parse(text))).toBe(false);
  });

  it("holds every key that is read, with its description", () => {
    const described = (properties: unknown, keys: readonly string[]) => {
      for (const key of keys)
        expect((properties as Record<string, Schema>)[key], key).toMatchObject({
          description: expect.stringMatching(/\w/),
        });
    };
    const spellings = (fields: Fields) =>
      Object.entries(fields).flatMap(([key, field]) => [key, ...(field.aliases ?? [])]);
    described(root.properties, spellings(WORKFLOW_FIELDS));
    described(definitions.job!.properties, spellings(JOB_FIELDS));
    const variants = definitions.step!.anyOf as Schema[];
    for (const [place, fields] of Object.values(ACTION_FIELDS).entries()) {
      const withoutType = spellings(STEP_FIELDS).filter((key) => key !== "type" && key !== "kind");
      described(variants[place]!.properties, [...withoutType, ...Object.keys(fields), "implementation"]);
    }
  });

  it("is draft 2020-12", () => {
    expect(root.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
  });
});
