import { describe, expect, it } from "vitest";
import { amountText, raiseBy, raiseText, refuseRaise, resourcesOf, withRaise } from "./resources.js";

const MIB = 1024 ** 2;
const MINUTE = 60_000;

describe("refuseRaise", () => {
  it.each([
    [{ resource: "memory", from: null, to: MIB - 1 }, "memory must be at least 1 MiB"],
    [{ resource: "memory", from: null, to: MIB }, null],
    [{ resource: "runtime", from: null, to: 999 }, "runtime must be at least 1 s"],
  ] as const)("of %o says %s", (raise, why) => {
    expect(refuseRaise(raise)).toBe(why);
  });
});

describe("raiseBy", () => {
  it.each([
    ["memory", 512 * MIB, 1.5, null, 768 * MIB],
    ["memory", 1000, 1.5, null, MIB],
    ["memory", 5 * MIB, 1.3, null, 7 * MIB],
    ["memory", 10 * MIB, 1.1, null, 11 * MIB],
    ["memory", 512 * MIB, 1.5, 600 * MIB, 600 * MIB],
    ["runtime", 30 * MINUTE, 1.4, null, 42 * MINUTE],
    ["runtime", 1000, 1.4, null, MINUTE],
    ["runtime", 10 * MINUTE, 1.1, null, 11 * MINUTE],
    ["runtime", MINUTE, 1.000_000_1, null, 2 * MINUTE],
    ["runtime", 2_000_000_000, 1.4, null, 2_147_483_647],
  ] as const)("%s %i times %d, at most %s, is %i", (resource, from, factor, max, to) => {
    expect(raiseBy(resource, { asked: from, used: null }, { factor, max })).toEqual({
      kind: "raised",
      raise: { resource, from, to },
    });
  });

  it("raises nothing at or above the limit, and never lowers", () => {
    const limit = 512 * MIB;
    for (const from of [limit, limit + 1])
      expect(raiseBy("memory", { asked: from, used: null }, { factor: 2, max: limit })).toEqual({
        kind: "at_resource_limit",
        limit,
      });
  });

  it.each([
    [100 * MIB, 300 * MIB, null, 450 * MIB],
    [100 * MIB, 50 * MIB, null, 150 * MIB],
    [100 * MIB, 300 * MIB, 200 * MIB, 200 * MIB],
  ])("asked %i, used %i, at most %s: %i", (asked, used, max, to) => {
    expect(raiseBy("memory", { asked, used }, { factor: 1.5, max })).toEqual({
      kind: "raised",
      raise: { resource: "memory", from: asked, to },
    });
  });

  it("raises nothing where nothing was asked for", () => {
    expect(raiseBy("runtime", { asked: null, used: 5 }, { factor: 2, max: null })).toEqual({
      kind: "nothing_to_raise",
    });
  });

  it("always gives more than before, whatever the factor", () => {
    for (let from = 1; from < 2 ** 50; from = from * 3 + 7) {
      const raising = raiseBy("memory", { asked: from, used: null }, { factor: 1.01, max: null });
      expect(raising.kind === "raised" && raising.raise.to > from).toBe(true);
    }
  });
});

describe("resourcesOf", () => {
  const asked = { cpus: 4, memoryBytes: MIB, runtimeMs: MINUTE };

  it("is what the step asks for, but for what was raised", () => {
    const raised = withRaise(null, { resource: "memory", from: MIB, to: 2 * MIB });
    expect(resourcesOf({ raised: null }, { resources: asked })).toBe(asked);
    expect(resourcesOf({ raised }, { resources: asked })).toEqual({ ...asked, memoryBytes: 2 * MIB });
    const both = withRaise(raised, { resource: "runtime", from: MINUTE, to: 2 * MINUTE });
    expect(resourcesOf({ raised: both }, { resources: asked })).toEqual({
      cpus: 4,
      memoryBytes: 2 * MIB,
      runtimeMs: 2 * MINUTE,
    });
  });

  it("gives a step that asked for nothing one cpu and what it was given", () => {
    const raised = withRaise(null, { resource: "memory", from: null, to: MIB });
    expect(resourcesOf({ raised }, { resources: null })).toEqual({
      cpus: 1,
      memoryBytes: MIB,
      runtimeMs: null,
    });
  });
});

it("amounts are told exactly, in the largest unit that fits", () => {
  expect([1000, 768 * MIB, 1536 * MIB, 1024 ** 4].map((bytes) => amountText("memory", bytes))).toEqual([
    "1000 bytes",
    "768 MiB",
    "1.5 GiB",
    "1 TiB",
  ]);
  expect([250, 1500, 90_000, 42 * MINUTE, 90 * MINUTE].map((ms) => amountText("runtime", ms))).toEqual([
    "250 ms",
    "1.5 s",
    "1.5 min",
    "42 min",
    "1.5 h",
  ]);
  expect(raiseText({ resource: "memory", from: null, to: MIB })).toBe("memory 1 MiB");
});
