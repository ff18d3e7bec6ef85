import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { Simulation } from "../sim/simulation.js";
import { describeSeed, RECORDED_SEEDS, recordedSeed, SEED_FILE } from "./seed-hashes.js";

const SEEDS = Array.from({ length: RECORDED_SEEDS }, (_, index) => index + 1);

/** The simulator's own test compares every recorded seed that it runs, so that none is run twice. */
describe("the recorded logs of the simulator", () => {
  it.runIf(process.env.GOLDEN === "record")(
    "are written",
    async () => {
      const lines: string[] = [];
      for (const seed of SEEDS) lines.push(describeSeed(seed, (await new Simulation(seed).run()).log));
      mkdirSync(dirname(SEED_FILE), { recursive: true });
      writeFileSync(SEED_FILE, `${lines.join("\n")}\n`);
    },
    600_000,
  );

  it("are there for every seed", () => {
    expect(existsSync(SEED_FILE), "npm run golden:record writes them").toBe(true);
    expect(SEEDS.filter((seed) => recordedSeed(seed) === null)).toEqual([]);
  });

  it("differ from each other", () => {
    expect(new Set(SEEDS.map((seed) => recordedSeed(seed)?.split(", ")[1])).size).toBe(RECORDED_SEEDS);
  });
});
