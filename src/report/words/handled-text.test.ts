import { describe, expect, it } from "vitest";
import { handledText } from "./handled-text.js";

const at = (step: string, by: string | null = null, scope = "root") => ({ step, scope, by });

describe("the words for handled failures", () => {
  it("are none where nothing failed", () => {
    expect(handledText({ handled_failures: [], skipped_by_failure: [at("publish")] })).toBeNull();
  });

  it("name what failed, what handled it, and what did not run because of it", () => {
    expect(
      handledText({ handled_failures: [at("test", "fallback")], skipped_by_failure: [at("publish")] }),
    ).toBe("1 failure handled: test, by fallback; skipped: publish");
    expect(handledText({ handled_failures: [at("test", "fallback"), at("lint")] })).toBe(
      "2 failures handled: test, by fallback; lint",
    );
  });

  it("name six of each, and count the rest", () => {
    const items = Array.from({ length: 8 }, (_, index) => at("resize", null, `root/list[${index}]`));
    expect(handledText({ handled_failures: items.slice(0, 1), skipped_by_failure: items })).toBe(
      `1 failure handled: resize@list[0]; skipped: ${[0, 1, 2, 3, 4, 5].map((n) => `resize@list[${n}]`).join(", ")}, 2 more`,
    );
  });
});
