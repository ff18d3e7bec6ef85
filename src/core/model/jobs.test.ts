import { describe, expect, it } from "vitest";
import type { GraphStep } from "./graph.js";
import { newJob, rememberOutput } from "./jobs.js";
import type { Scope } from "./run.js";
import { placeOf } from "./worker-names.js";

const jobOf = (id: number) => newJob(id, {} as GraphStep, {} as Scope);
const outputOf = (value: string | null) => ({ kind: "value", value }) as const;

describe("jobs that put out nothing", () => {
  it.each([null, ""])("share %j, and what only one of them puts out later is its own", (nothing) => {
    const [one, other] = [jobOf(1), jobOf(2)];
    for (const job of [one, other]) rememberOutput(job, outputOf(nothing));
    expect(other.output).toBe(one.output);
    expect(other.history).toBe(one.history);
    rememberOutput(one, outputOf("later"));
    rememberOutput(one, outputOf(nothing));
    expect(one.history).toEqual([outputOf(nothing), outputOf("later"), outputOf(nothing)]);
    expect(one.output).toEqual(outputOf(nothing));
    expect(other.history).toEqual([outputOf(nothing)]);
  });
});

describe("attempts at one place", () => {
  it("share it", () => {
    expect(placeOf({ node: "n1", restart: 2 })).toBe(placeOf({ node: "n1", restart: 2 }));
    expect(placeOf({ node: "n1", restart: 2 })).toEqual({ node: "n1", allocation: null, restart: 2 });
    expect(placeOf({ node: "n1" })).toEqual({ node: "n1", allocation: null, restart: null });
    expect(placeOf({ allocation: "n1" })).toEqual({ node: null, allocation: "n1", restart: null });
  });
});
