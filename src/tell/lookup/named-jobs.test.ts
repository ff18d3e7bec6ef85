import { describe, expect, it } from "vitest";
import { isGlob, isLike, isMeant } from "./choose-job.js";

describe("the names of several jobs", () => {
  it.each([
    ["train_1_011", "train_*_011", true],
    ["train_1_012", "train_*_011", false],
    ["resize@list[16]", "resize@list[1?]", true],
    ["resize@list[1]", "resize@list[1?]", false],
    ["resize@list[16]", "*", true],
    ["a", "a*", true],
    ["ab", "a?b", false],
    ["aXbXc", "a*b*c", true],
    ["", "*", true],
  ])("%s fits %s: %s", (name, glob, expected) => {
    expect(isLike(name, glob)).toBe(expected);
  });

  it("the name of a family means all of its jobs, and is no glob of others", () => {
    const job = (step: string, family: string | null) => ({ step, family, scope: "root" });
    expect(isGlob("train_{i}")).toBe(true);
    expect(isMeant(job("train_1", "train_{i}"), "train_{i}")).toBe(true);
    expect(isMeant(job("train_1_a", "train_{i}_{k}"), "train_{i}")).toBe(false);
    expect(isMeant(job("train_1", null), "train_{i}")).toBe(false);
  });

  it("brackets are no wildcards", () => {
    expect([isGlob("resize@list[16]"), isGlob("resize@list[*]")]).toEqual([false, true]);
    expect(isLike("resize@list1", "resize@list[1]*")).toBe(false);
  });
});
