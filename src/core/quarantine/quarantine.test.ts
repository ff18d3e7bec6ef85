import { describe, expect, it } from "vitest";
import {
  beginProbation,
  dropProbation,
  FIRST_QUARANTINE_MS,
  failProbation,
  free,
  HEALTHY,
  MAX_QUARANTINE_MS,
  quarantine,
  stateOf,
} from "./quarantine.js";

const begun = quarantine(HEALTHY, [], 1_000);
const until = 1_000 + FIRST_QUARANTINE_MS;

describe("a quarantine", () => {
  it("lasts ten minutes and is not begun anew while it lasts", () => {
    expect(FIRST_QUARANTINE_MS).toBe(600_000);
    expect([stateOf(HEALTHY, 0), stateOf(begun, until - 1), stateOf(begun, until)]).toEqual([
      ...["healthy", "quarantined", "probation"],
    ]);
    expect(quarantine(begun, [], 5_000)).toBe(begun);
  });

  it("doubles with each probation that fails, up to a day", () => {
    let health = begun;
    const lengths: number[] = [];
    for (let times = 0; times < 9; times += 1) {
      health = failProbation(beginProbation(health, until), until);
      lengths.push(health.quarantine!.until - until);
    }
    expect(lengths.slice(0, 3)).toEqual([2, 4, 8].map((factor) => factor * FIRST_QUARANTINE_MS));
    expect(lengths.at(-1)).toBe(MAX_QUARANTINE_MS);
    expect(health.quarantine!.times).toBe(10);
  });

  it("has one probation at a time; one that nobody hears of again is over after twice the time", () => {
    const proving = beginProbation(begun, until);
    expect(stateOf(proving, until)).toBe("probation");
    expect(proving.quarantine).toMatchObject({ until: until + 2 * FIRST_QUARANTINE_MS, times: 1 });
    const dropped = dropProbation(proving, until + 5);
    expect(dropped.quarantine).toMatchObject({ until: until + 5, probationAt: null, times: 1 });
    expect(dropProbation(begun, until)).toEqual(begun);
  });

  it("ends by a success or by hand, and nothing is left to end after that", () => {
    const freed = { at: 5, by: "ada", reason: "mended" };
    expect(free(begun, freed)).toEqual({ quarantine: null, freed });
    expect(free(HEALTHY, freed)).toBe(HEALTHY);
    expect(failProbation(HEALTHY, 0)).toBe(HEALTHY);
    expect(beginProbation(HEALTHY, 0)).toBe(HEALTHY);
  });
});
