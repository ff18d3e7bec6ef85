import { describe, expect, it } from "vitest";
import { type Route, recoveriesOf } from "./recoveries.js";

let seq = 0;
const route = (step: string, rung: Route["rung"], more: Partial<Route> = {}): Route => {
  seq += 1;
  const job = { a: 1, b: 2, c: 3 }[step] ?? 9;
  return {
    seq,
    at: seq,
    job_id: job,
    step,
    scope: "root",
    attempt: 1,
    rung,
    to: step,
    reason: rung,
    ...more,
  };
};
const inBranch = (index: number, rung: Route["rung"], attempt = 1): Route =>
  route("shard", rung, { job_id: 100 + index, scope: `root/all[${index}]`, attempt });
/** Attempts 1 to 3 are in the first visit. */
const byThree = (_job: number, attempt: number): number => Math.ceil(attempt / 3);
const told = (routes: readonly Route[]): string[] =>
  recoveriesOf(routes, byThree).map(
    ({ number, step, rung, jobs, times }) =>
      `${number} ${step} ${rung}${times > 1 ? ` ${times}x` : ""}${jobs > 1 ? ` in ${jobs}` : ""}`,
  );

describe("the recoveries of a run", () => {
  it("counts retries of one visit once, also where other steps recover between them", () => {
    const routes = [
      route("a", "retry"),
      route("b", "remediate", { to: "fix" }),
      route("a", "retry", { attempt: 2 }),
    ];
    expect(told(routes)).toEqual(["1 a retry 2x", "2 b remediate"]);
  });

  it("counts retries of two visits, and those with another rung between them, apart", () => {
    expect(told([route("a", "retry", { attempt: 3 }), route("a", "retry", { attempt: 4 })])).toEqual([
      "1 a retry",
      "2 a retry",
    ]);
    expect(
      told([route("a", "retry"), route("a", "reset", { attempt: 2 }), route("a", "retry", { attempt: 3 })]),
    ).toEqual(["1 a retry", "2 a reset", "3 a retry"]);
  });

  it("counts every goto, repair and edge by itself", () => {
    const goto = () => route("b", "goto", { to: "a" });
    expect(told([goto(), goto(), route("c", "edge", { to: "a" })])).toEqual([
      "1 b goto",
      "2 b goto",
      "3 c edge",
    ]);
  });

  it("counts branches that recover alike as one, and their second time as the next", () => {
    const routes = [
      inBranch(0, "retry"),
      inBranch(1, "retry"),
      inBranch(1, "retry", 2),
      inBranch(2, "requeue"),
      inBranch(0, "retry", 4),
      inBranch(2, "retry", 2),
    ];
    expect(told(routes)).toEqual(["1 shard retry 4x in 3", "2 shard requeue", "3 shard retry"]);
  });

  it("leaves out what people and successes did", () => {
    expect(told([route("a", "operator"), route("a", "on_success", { to: "b" })])).toEqual([]);
  });

  it("gives the same numbers to every beginning of a log", () => {
    const routes = [
      inBranch(0, "retry"),
      route("b", "goto", { to: "a" }),
      inBranch(1, "retry"),
      inBranch(0, "retry", 4),
    ];
    const whole = told(routes).map((text) => text.split(" ", 3).join(" "));
    for (let length = 0; length <= routes.length; length += 1) {
      const part = told(routes.slice(0, length)).map((text) => text.split(" ", 3).join(" "));
      expect(part).toEqual(whole.slice(0, part.length));
    }
  });
});
