import { describe, expect, it } from "vitest";
import { definitionOf, problemsOf } from "../../../test/support/workflow-text.js";

const foundIn = (text: string) =>
  problemsOf(text).map(({ line, column, code, message }) => `${line}:${column} ${code} ${message}`);

describe("undo and finally", () => {
  it("name routed steps", { tags: ["U1"] }, () => {
    const { steps, finally: last } = definitionOf(
      "{ finally: z, steps: { a: { exec: x, undo: u }, u: { exec: x }, z: { exec: x } } }",
    );
    expect(steps.map(({ id, start, undo }) => [id, start, undo ?? null])).toEqual([
      ["a", "auto", "u"],
      ["u", "routed", null],
      ["z", "routed", null],
    ]);
    expect(last).toEqual(["z"]);
  });

  it.each([
    ["steps: { a: { exec: x, undo: b } }", "1:30 UNKNOWN_STEP undo names the unknown step `b`"],
    ["finally: [b]\nsteps: { a: { exec: x } }", "1:11 UNKNOWN_STEP finally names the unknown step `b`"],
    ["steps: { a: { exec: x, undo: a } }", "1:30 INVALID_VALUE the undo of `a` names the step itself"],
    [
      "finally: [z, z]\nsteps: { a: { exec: x }, z: { exec: x } }",
      "1:14 INVALID_VALUE `finally` names `z` twice",
    ],
    [
      "finally: [u]\nsteps: { a: { exec: x, undo: u }, u: { exec: x } }",
      "1:11 INVALID_VALUE `u` is an undo step and one of `finally`",
    ],
    [
      "steps: { a: { exec: x, undo: u }, u: { exec: x, depends_on: a } }",
      "1:49 INVALID_VALUE `u` is an undo step: `depends_on` does not apply to it",
    ],
    [
      "steps: { a: { exec: x, undo: u }, u: { exec: x, forEach: true } }",
      "1:49 INVALID_VALUE `u` is an undo step: `forEach` does not apply to it",
    ],
    [
      "steps: { a: { exec: x, undo: u }, u: { exec: x, undo: v }, v: { exec: x } }",
      "1:49 INVALID_VALUE `u` is an undo step: `undo` does not apply to it",
    ],
    [
      "steps: { a: { exec: x, undo: u }, u: { exec: x, continue_on_failure: true } }",
      "1:49 INVALID_VALUE `u` is an undo step: `continue_on_failure` does not apply to it",
    ],
    [
      "steps: { a: { exec: x, undo: u }, u: { exec: x, hold: { expires: 1h } } }",
      "1:49 INVALID_VALUE `u` is an undo step: `hold` does not apply to it",
    ],
    [
      "steps: { a: { exec: x, undo: u }, u: { exec: x, start: auto } }",
      "1:49 INVALID_VALUE `u` is an undo step: `start` does not apply to it",
    ],
    [
      "finally: [z]\nsteps: { a: { exec: x }, z: { exec: x, on_fail: { run: [r] } }, r: { exec: x } }",
      "2:51 INVALID_VALUE `z` is one of `finally`: `run` does not apply to it",
    ],
    [
      "finally: [z]\nsteps: { a: { exec: x }, z: { exec: x, on_success: { run: [r] } }, r: { exec: x } }",
      "2:40 INVALID_VALUE `z` is one of `finally`: `on_success` does not apply to it",
    ],
    [
      "finally: [z]\nsteps: { a: { exec: x, on_fail: { run: [z] } }, z: { exec: x } }",
      "2:41 INVALID_VALUE the on_fail.run of `a` names `z`, which is one of `finally`",
    ],
    [
      "finally: [z]\nsteps: { a: { exec: x }, b: { exec: x, depends_on: z }, z: { exec: x } }",
      "2:52 INVALID_VALUE the depends_on of `b` names `z`, which is one of `finally`",
    ],
    [
      "finally: [z]\nsteps: { a: { exec: x }, z: { exec: x } }\ntransitions: [{ from: a, to: z, on: failure }]",
      "3:30 INVALID_VALUE a transition names `z`, which is one of `finally`",
    ],
  ])("are refused: %s", { tags: ["U1"] }, (text, told) => {
    expect(foundIn(text)).toContain(told);
  });

  it("take the default retry and no other default", () => {
    const { steps } = definitionOf(
      "{ finally: z, routing: { defaults: { on_fail: { retry: { max: 2 }, run: [r] } } }, steps: { a: { exec: x }, r: { exec: x }, z: { exec: x } } }",
    );
    expect(steps.find(({ id }) => id === "z")?.onFail).toMatchObject({ run: [], retry: { max: 2 } });
    expect(steps.find(({ id }) => id === "a")?.onFail).toMatchObject({ run: ["r"] });
  });

  it("needs a step that can start beside them", () => {
    expect(foundIn("finally: [z]\nsteps: { z: { exec: x } }")[0]).toMatch(/NO_START/);
  });
});
