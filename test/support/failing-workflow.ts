import fc from "fast-check";

type Keys = { readonly [key: string]: unknown };

/** What a step does. Each fails, or not, in a way of its own. */
const ACTIONS: readonly Keys[] = [
  { type: "noop", output: { rows: 1 } },
  { exec: "echo fine" },
  { exec: "echo some; echo broken >&2; exit 3" },
  { exec: "exit 10" },
  { exec: "kill -SEGV $$" },
  { exec: "sleep 20", timeout_ms: 60 },
  {
    exec: `echo '{"code":"BUSY","message":"not now","retryable":false,"retry_after_ms":5}' > $DARUMA_FAILURE; exit 9`,
  },
  { type: "script", content: "return null.member" },
  { type: "http", url: "http://127.0.0.1:2/" },
  { exec: "echo {{ outputs.base.nothing.there }}" },
  { exec: "echo more >> left.txt; exit 4" },
  { exec: "true", if: "null.there" },
  { exec: "true", if: "false" },
];

const action = fc.constantFrom(...ACTIONS);

const answer: fc.Arbitrary<Keys> = fc.constantFrom<Keys>(
  {},
  { on_fail: { retry: { max: 1 } } },
  { on_fail: { run: ["mends"] } },
  { on_fail: { run: ["breaks"] } },
  { on_fail: { goto: "base" } },
  { continue_on_failure: true },
  { failure_handler: "again" },
);

/** A step behind `base` and perhaps one of those before it. */
function step(index: number): fc.Arbitrary<Keys> {
  const before = Array.from({ length: index }, (_, at) => `s${at}`);
  return fc
    .tuple(action, answer, fc.subarray(before, { maxLength: Math.min(1, index) }))
    .map(([does, routing, needs]) => ({ ...does, ...routing, depends_on: ["base", ...needs] }));
}

const FAN_OUT = {
  list: { type: "noop", output: ["a", "b", "c"], forEach: true },
  each: { exec: "test {{ foreach.index }} -ne 1 || exit 6", depends_on: ["list"] },
};

const settings = fc.record({
  unhandled: fc.constantFrom("fail", "hold"),
  failure_policy: fc.constantFrom("finish_independent", "finish_independent", "fail_fast"),
  routing: fc.record({ max_loops: fc.constantFrom(1, 4, 4) }),
});

/** Beside the workflow file. */
export const REPOSITORY = "repository";

const IN_WORKSPACE: Keys = {
  workspace: { repo: REPOSITORY },
  self_heal: { step_max_attempts: 2, step_no_progress_limit: 1 },
};

const queue = { max_attempts: 2, classes: ["application", "transient_runtime"], backoff: { mode: "none" } };

/** A story of which much goes wrong. */
export interface FailingRun {
  readonly text: string;
  readonly hasWorkspace: boolean;
  /** `held`: once it is held, if it comes to that. A number: once its log is so long, which it will be. */
  readonly canceled: "held" | number | null;
}

/** As long as the log is sure to be before the step `endless` ends. */
const LOG_LENGTH = fc.integer({ min: 4, max: 9 });

const circumstances = fc.record({
  queued: fc.boolean(),
  edge: fc.boolean(),
  join: fc.constantFrom("all", "any", null),
  hasWorkspace: fc.boolean(),
  canceled: fc.oneof(fc.constant(null), fc.constant("held" as const), LOG_LENGTH),
});

/** Workflow files in which much goes wrong, each a little otherwise. */
export const failingRun: fc.Arbitrary<FailingRun> = fc
  .tuple(fc.tuple(step(0), step(1), step(2), step(3)), settings, circumstances)
  .map(([steps, chosen, { queued, edge, join, hasWorkspace, canceled }]) => {
    const text = JSON.stringify({
      name: "failing",
      ...chosen,
      ...(queued ? { queue } : {}),
      ...(hasWorkspace ? IN_WORKSPACE : {}),
      failure_handlers: [{ name: "again", rules: [{ match_all_exit_codes: true, max_retries: 2 }] }],
      steps: {
        base: { type: "noop", output: { rows: 1 } },
        ...(typeof canceled === "number" ? { endless: { exec: "sleep 1000", workspace: false } } : {}),
        ...Object.fromEntries(steps.map((keys, at) => [`s${at}`, keys])),
        mends: { type: "noop", start: "routed" },
        breaks: { exec: "exit 8", start: "routed" },
        hand: { exec: "exit 0", start: "routed" },
        ...(join === null
          ? {}
          : { ...FAN_OUT, sum: { type: "noop", depends_on: ["each"], fanout: "reduce", join } }),
      },
      transitions: edge ? [{ from: "s3", to: "hand", on: "failure" }] : [],
    });
    return { text, hasWorkspace, canceled };
  });
