import { describe, expect, it } from "vitest";
import { type HandledEnd, handledText, strictReason } from "./handled-text.js";

const edge = (step: string, by: string) => ({ step, scope: "root", how: "edge", by }) as const;
const lint = { step: "lint", scope: "root", how: "continue_on_failure", by: null } as const;
const publish = { step: "publish", scope: "root" };
const train = { step: "train", scope: "root", how: "skip", by: "ann", expired: false } as const;
const CLEAN: HandledEnd = {
  handled_failures: [],
  skipped_by_failure: [],
  decided: [],
  handled_in_children: [],
};

describe("the words for handled failures", () => {
  it("are none where nothing failed", () => {
    expect(handledText({ ...CLEAN, skipped_by_failure: [publish] })).toBeNull();
  });

  it("name what failed, what handled it, and what did not run because of it", () => {
    const skipped_by_failure = [publish];
    expect(handledText({ ...CLEAN, handled_failures: [edge("test", "fallback")], skipped_by_failure })).toBe(
      "1 failure handled: test, by fallback; skipped: publish",
    );
    expect(handledText({ ...CLEAN, handled_failures: [edge("test", "fallback"), lint] })).toBe(
      "2 failures handled: test, by fallback; lint, by continue_on_failure",
    );
  });

  it("name the child runs in which failures were handled", () => {
    const handled_in_children = [
      { run_id: 8, workflow: "release", status: "completed", failures: 2, steps: "test, lint", decided: [] },
    ];
    const own = { ...CLEAN, handled_failures: [lint] };
    expect(handledText({ ...CLEAN, handled_in_children })).toBe(
      "2 failures handled: test, lint in run 8 of release",
    );
    expect(handledText({ ...own, handled_in_children })).toBe(
      "3 failures handled: lint, by continue_on_failure; test, lint in run 8 of release",
    );
  });

  it("name six of each, and count the rest", () => {
    const items = Array.from(
      { length: 8 },
      (_, index) => ({ step: "resize", scope: `root/list[${index}]`, how: "join", by: null }) as const,
    );
    const names = [0, 1, 2, 3, 4, 5].map((item) => `resize@list[${item}]`);
    expect(handledText({ ...CLEAN, handled_failures: items, skipped_by_failure: items })).toBe(
      `8 failures handled: ${names.map((name) => `${name}, by its join`).join("; ")}; 2 more; skipped: ${names.join(", ")}, 2 more`,
    );
  });

  it("name who finished a job by hand, and which hold expired", () => {
    const deploy = {
      step: "deploy",
      scope: "root",
      how: "complete",
      by: "command line",
      expired: false,
    } as const;
    const late = { step: "check", scope: "root/list[2]", how: "skip", by: null, expired: true } as const;
    expect(handledText({ ...CLEAN, decided: [train, deploy, late] })).toBe(
      "train skipped by ann, deploy completed by hand, check@list[2] skipped when its hold expired",
    );
    expect(handledText({ ...CLEAN, handled_failures: [lint], decided: [train] })).toBe(
      "1 failure handled: lint, by continue_on_failure; train skipped by ann",
    );
    const child = { run_id: 8, workflow: "release", status: "completed", failures: 0, steps: "" };
    expect(handledText({ ...CLEAN, handled_in_children: [{ ...child, decided: [train] }] })).toBe(
      "in run 8 train skipped by ann",
    );
  });
});

describe("what counts as a failure with --strict", () => {
  it("is what was handled, what expired and what is open, but not what a person decided", () => {
    const child = { run_id: 8, workflow: "release", failures: 0, steps: "" };
    const below = (status: string, decided: HandledEnd["decided"]) => ({
      ...CLEAN,
      handled_in_children: [{ ...child, status, decided }],
    });
    expect(strictReason({ ...CLEAN, decided: [train] })).toBeNull();
    expect(strictReason(below("completed", [train]))).toBeNull();
    expect(strictReason({ ...CLEAN, decided: [{ ...train, expired: true }] })).toBe("a hold expired");
    expect(strictReason(below("completed", [{ ...train, expired: true }]))).toBe("a hold expired");
    expect(strictReason(below("running", []))).toBe("a child run is open");
    expect(strictReason({ ...CLEAN, handled_failures: [lint] })).toBe("a failure was handled");
  });
});
