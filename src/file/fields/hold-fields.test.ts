import { describe, expect, it } from "vitest";
import { definitionOf, problemsOf, warningsOf } from "../../../test/support/workflow-text.js";

const HELD = "unhandled: hold, steps: { a: { exec: make } }";
const found = (text: string) =>
  problemsOf(text).map(({ code, path, message }) => `${code} ${path}: ${message}`);

describe("hold", () => {
  it("says how long and what then, `fail` by default, for the workflow or a step", () => {
    const hold = (text: string) => definitionOf(`{ hold: ${text}, ${HELD} }`).hold;
    expect(hold("{ expires: 4h }")).toEqual({ expiresMs: 14_400_000, action: "fail" });
    expect(hold("{ expires: 90s, then: retry }")).toEqual({ expiresMs: 90_000, action: "retry" });
    expect(hold("{ expires: 1h, then: { complete: { ok: true } } }")).toEqual({
      expiresMs: 3_600_000,
      action: "complete",
      output: { ok: true },
    });
    const own = "{ unhandled: hold, steps: { a: { exec: make, hold: { expires: 1h, then: skip } } } }";
    expect(definitionOf(own).steps[0]!.hold).toEqual({ expiresMs: 3_600_000, action: "skip" });
    expect(definitionOf(`{ ${HELD} }`)).not.toHaveProperty("hold");
  });

  it.each([
    ["{ hold: { then: fail } }", "MISSING_KEY hold: the key `expires` is missing"],
    ["{ hold: { expires: 0 } }", "INVALID_VALUE hold.expires: `0` is too short: at least 1 ms"],
    ["{ hold: { expires: 1h, then: cancel } }", "INVALID_VALUE hold.then: `cancel` is not allowed here"],
    ["{ hold: { expires: 1h, after: fail } }", "UNKNOWN_KEY hold.after: unknown key `after`"],
  ])("is refused: %s", (hold, message) => {
    expect(found(`${hold.slice(0, -1)}, ${HELD} }`).join()).toContain(message);
  });

  it("completes only with what the step could give", () => {
    const text = (step: string) =>
      `{ unhandled: hold, hold: { expires: 1h, then: { complete: [1] } }, steps: { a: { exec: make, ${step} } } }`;
    expect(found(text("forEach: true, outputs: { type: array }"))).toEqual([]);
    expect(found(text("outputs: { type: object }"))).toEqual([
      expect.stringMatching(
        /^INVALID_VALUE hold: a hold of `a` cannot be completed so: the output does not fit/,
      ),
    ]);
    expect(found(text("outputs: { type: object }, hold: { expires: 1h }"))).toEqual([]);
  });

  it("has no effect where nothing is held", () => {
    const text = "{ hold: { expires: 1h }, steps: { a: { exec: make, hold: { expires: 1h } } } }";
    expect(warningsOf(text)).toEqual(["NO_EFFECT hold", "NO_EFFECT steps.a.hold"]);
  });
});

describe("a question that expires", () => {
  const ask = (keys: string) => `{ steps: { a: { type: human, prompt: Ship?, ${keys} } } }`;

  it("has its time, and what counts as the answer then", () => {
    const [step] = definitionOf(ask("expires: 4h, then: { choose: reject }")).steps;
    expect([step!.timeoutMs, step!.action.then]).toEqual([14_400_000, { choose: "reject" }]);
    expect(definitionOf(ask("expires: 1m, then: fail")).steps[0]!.timeoutMs).toBe(60_000);
  });

  it.each([
    [
      "expires: 1h, then: { choose: rejct }",
      "names `rejct`, which is not one of the choices, did you mean `reject`?",
    ],
    ["then: { choose: reject }", "`then` has no effect without `expires`"],
    ["expires: 1h, then: skip", "`skip` is not allowed here"],
    ["expires: 1h, timeout_ms: 1h", "`timeout_ms` and `expires`"],
  ])("is refused: %s", (keys, message) => {
    expect(found(ask(keys)).join()).toContain(message);
  });

  it("is a human step's alone", () => {
    expect(found("{ steps: { a: { exec: make, expires: 1h } } }").join()).toContain(
      "it belongs to `type: human`",
    );
  });
});
