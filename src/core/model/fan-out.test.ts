import { describe, expect, it } from "vitest";
import { type FanStep, fanPaths, MAX_FAN_OUT_DEPTH } from "./fan-out.js";

function step(id: string, dependsOn: string[], marks: { forEach?: boolean; reduce?: boolean } = {}): FanStep {
  return {
    id,
    dependsOn: dependsOn.map((name) => name.split("|")),
    forEach: marks.forEach ?? false,
    reduce: marks.reduce ?? false,
  };
}

function pathsOf(steps: FanStep[]): Record<string, readonly string[]> {
  return Object.fromEntries(fanPaths(steps).paths);
}

describe("fanPaths", () => {
  it("puts the dependents of a forEach step, and what follows them, inside its fan-out", () => {
    expect(
      pathsOf([step("list", [], { forEach: true }), step("work", ["list"]), step("more", ["work"])]),
    ).toEqual({
      list: [],
      work: ["list"],
      more: ["list"],
    });
  });

  it("brings a reducer and what follows it back outside", () => {
    const paths = pathsOf([
      step("list", [], { forEach: true }),
      step("work", ["list"]),
      step("sum", ["work"], { reduce: true }),
      step("after", ["sum"]),
    ]);
    expect(paths.sum).toEqual([]);
    expect(paths.after).toEqual([]);
  });

  it("nests fan-outs and lets reduce close only the innermost", () => {
    const paths = pathsOf([
      step("sum", ["inner-work"], { reduce: true }),
      step("inner-work", ["inner", "outer"]),
      step("inner", ["outer"], { forEach: true }),
      step("outer", [], { forEach: true }),
    ]);
    expect(paths).toEqual({ outer: [], inner: ["outer"], "inner-work": ["outer", "inner"], sum: ["outer"] });
  });

  it("takes the deepest of a step's dependencies, or-groups included", () => {
    expect(
      pathsOf([step("list", [], { forEach: true }), step("root", []), step("both", ["root|list"])]).both,
    ).toEqual(["list"]);
  });

  it("reports a step under two different open fan-outs", () => {
    const { problems } = fanPaths([
      step("a", [], { forEach: true }),
      step("b", [], { forEach: true }),
      step("c", ["a", "b"]),
    ]);
    expect(problems).toEqual([{ kind: "crossed", step: "c", first: ["a"], second: ["b"] }]);
  });

  it("reports a reducer outside of any fan-out", () => {
    expect(fanPaths([step("a", []), step("r", ["a"], { reduce: true })]).problems).toEqual([
      { kind: "nothing_to_reduce", step: "r" },
    ]);
  });

  it("lets a reducer be a forEach step itself", () => {
    const paths = pathsOf([
      step("a", [], { forEach: true }),
      step("r", ["a"], { reduce: true, forEach: true }),
      step("w", ["r"]),
    ]);
    expect(paths.w).toEqual(["r"]);
  });

  it("limits how deep fan-outs nest", () => {
    const steps = Array.from({ length: MAX_FAN_OUT_DEPTH + 2 }, (_, i) =>
      step(`s${i}`, i === 0 ? [] : [`s${i - 1}`], { forEach: true }),
    );
    const { paths, problems } = fanPaths(steps);
    expect(problems[0]).toEqual({ kind: "too_deep", step: `s${MAX_FAN_OUT_DEPTH}` });
    expect(Math.max(...[...paths.values()].map((path) => path.length))).toBe(MAX_FAN_OUT_DEPTH);
  });

  it("walks a chain of 50,000 steps, and steps in a circle, without overflowing", () => {
    const chain = Array.from({ length: 50_000 }, (_, i) =>
      step(`s${i}`, i === 0 ? [] : [`s${i - 1}`], { forEach: i === 0 }),
    );
    expect(fanPaths(chain).paths.get("s49999")).toEqual(["s0"]);
    expect(fanPaths([step("a", ["b"]), step("b", ["a"]), step("c", ["nobody"])]).problems).toEqual([]);
  });
});
