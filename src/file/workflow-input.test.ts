import { describe, expectTypeOf, it } from "vitest";
import type { BuiltInAction } from "../core/model/action-traits.js";
import type { Json } from "../core/text/json.js";
import type { JobInput, StepInput, TransitionInput, WorkflowInput } from "./builder.js";
import type { ACTION_FIELDS } from "./fields/action-fields.js";
import type { JOB_FIELDS } from "./fields/job-fields.js";
import type { STEP_FIELDS } from "./fields/step-fields.js";
import type { WORKFLOW_FIELDS } from "./fields/workflow-fields.js";
import type { Fields, Written } from "./read/schema.js";

type Command = Extract<StepInput, { exec: unknown; prompt?: never }>;
const one = (step: StepInput): WorkflowInput => ({ name: "x", steps: { a: step } });

/** Keys whose schema does not say what may be written for them: a program could write anything. */
type Loose<F extends Fields> = {
  [K in keyof F]: unknown extends Written<F[K]["schema"]> ? K : never;
}[keyof F];
type LooseActionKey = { [T in BuiltInAction]: Loose<(typeof ACTION_FIELDS)[T]> }[BuiltInAction];

describe("the builder's types", () => {
  it("know what may be written for every key of the tables", () => {
    // `steps` is a table of its own, made in the builder's types.
    expectTypeOf<Loose<typeof WORKFLOW_FIELDS>>().toEqualTypeOf<"steps">();
    expectTypeOf<Loose<typeof STEP_FIELDS>>().toEqualTypeOf<never>();
    expectTypeOf<Loose<typeof JOB_FIELDS>>().toEqualTypeOf<never>();
    expectTypeOf<LooseActionKey>().toEqualTypeOf<never>();
  });

  it("have every key of the tables", () => {
    expectTypeOf<keyof WorkflowInput>().toEqualTypeOf<keyof typeof WORKFLOW_FIELDS>();
    expectTypeOf<keyof JobInput>().toEqualTypeOf<keyof typeof JOB_FIELDS>();
    type Type = Exclude<Extract<StepInput, { type?: unknown }>["type"], undefined>;
    expectTypeOf<Type>().toEqualTypeOf<BuiltInAction>();
  });

  it("are those that the file's keys ask for", () => {
    expectTypeOf<NonNullable<Command["timeout_ms"]>>().toEqualTypeOf<number | string>();
    expectTypeOf<NonNullable<Command["depends_on"]>>().toEqualTypeOf<string | readonly string[]>();
    expectTypeOf<NonNullable<Command["start"]>>().toEqualTypeOf<"auto" | "routed">();
    expectTypeOf<NonNullable<Command["if"]>>().toEqualTypeOf<string | boolean>();
    expectTypeOf<NonNullable<Command["env"]>>().toEqualTypeOf<{
      readonly [name: string]: string | number | boolean;
    }>();
    expectTypeOf<NonNullable<Command["outputs"]>>().toEqualTypeOf<{ readonly [keyword: string]: Json }>();
    expectTypeOf<NonNullable<WorkflowInput["max_log"]>>().toEqualTypeOf<number | string>();
    expectTypeOf<NonNullable<JobInput["parameter_mode"]>>().toEqualTypeOf<"product" | "zip">();
  });

  it("take every kind of step", () => {
    one({ exec: ["echo", 1], on_fail: { retry: { max: 1, backoff: "linear", on: [503] } } });
    one({ exec: "x", on_fail: { retry: { backoff: { mode: "fixed", delay_ms: "2s" } }, goto: "b" } });
    one({ exec: "x", on_success: { goto: { step: "b", max: 1 }, run: ["c"] }, join: { at_least: 1 } });
    one({
      type: "http",
      url: "x",
      method: "PUT",
      headers: { a: 1 },
      body: null,
      expect_status: [200, "3xx"],
    });
    one({ type: "script", content: "return 1", forEach: true });
    one({ type: "noop" });
    one({ type: "human", prompt: "Go on?", choices: ["yes", "no"], reject: ["no"] });
    one({ type: "workflow", file: "b.yaml", inputs: { a: [1] } });
    one({ type: "agent", prompt: "x", profile: "claude", prompt_via: "stdin" });
    one({ type: "llm_call", provider: "openai", model: "m", prompt: "x", schema: { type: "object" } });
    one({ kind: "greet", implementation: { who: 1 }, resource_requirements: { memory: "1g", num_gpus: 0 } });
  });

  it("refuse what a file may not say", () => {
    // @ts-expect-error a key that nothing knows
    one({ exec: "x", retries: 3 });
    // @ts-expect-error a key of another action
    one({ type: "http", url: "x", content: "x" });
    // @ts-expect-error `url` is missing
    one({ type: "http" });
    // @ts-expect-error no such action
    one({ type: "ftp", url: "x" });
    // @ts-expect-error no such word
    one({ exec: "x", fanout: "all" });
    // @ts-expect-error a count is a number
    one({ exec: "x", on_fail: { retry: { max: "2" } } });
    // @ts-expect-error only `at_least` counts branches
    one({ exec: "x", join: { at_most: 1 } });
    // @ts-expect-error no such class of failures
    const queue: WorkflowInput = { name: "x", queue: { classes: ["network"] } };
    // @ts-expect-error a condition without its field
    const when: TransitionInput = { from: "a", to: "b", when: { type: "exists" } };
    // @ts-expect-error a job has a name
    const job: WorkflowInput = { name: "x", jobs: [{ command: "x" }] };
    // @ts-expect-error a workflow has a name
    const nameless: WorkflowInput = { steps: {} };
    expectTypeOf([queue, job, nameless, { name: "x", transitions: [when] }]).toEqualTypeOf<WorkflowInput[]>();
  });
});
