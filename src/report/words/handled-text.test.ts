import { describe, expect, it } from "vitest";
import { handledText } from "./handled-text.js";

const edge = (step: string, by: string) => ({ step, scope: "root", how: "edge", by }) as const;
const lint = { step: "lint", scope: "root", how: "continue_on_failure", by: null } as const;
const publish = { step: "publish", scope: "root" };

describe("the words for handled failures", () => {
  it("are none where nothing failed", () => {
    expect(
      handledText({ handled_failures: [], skipped_by_failure: [publish], handled_in_children: [] }),
    ).toBeNull();
  });

  it("name what failed, what handled it, and what did not run because of it", () => {
    const [skipped_by_failure, handled_in_children] = [[publish], []];
    expect(
      handledText({ handled_failures: [edge("test", "fallback")], skipped_by_failure, handled_in_children }),
    ).toBe("1 failure handled: test, by fallback; skipped: publish");
    expect(
      handledText({
        handled_failures: [edge("test", "fallback"), lint],
        skipped_by_failure: [],
        handled_in_children,
      }),
    ).toBe("2 failures handled: test, by fallback; lint, by continue_on_failure");
  });

  it("name the child runs in which failures were handled", () => {
    const handled_in_children = [
      { run_id: 8, workflow: "release", status: "completed", failures: 2, steps: "test, lint" },
    ];
    const own = { handled_failures: [lint], skipped_by_failure: [] };
    expect(handledText({ handled_failures: [], skipped_by_failure: [], handled_in_children })).toBe(
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
    expect(handledText({ handled_failures: items, skipped_by_failure: items, handled_in_children: [] })).toBe(
      `8 failures handled: ${names.map((name) => `${name}, by its join`).join("; ")}; 2 more; skipped: ${names.join(", ")}, 2 more`,
    );
  });
});
