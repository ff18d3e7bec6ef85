import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { LoggedEvent } from "../../src/core/model/events.js";
import { repositoryRoot } from "../support/repository-root.js";
import { sortedKeys } from "./json-text.js";
import { asRecorded } from "./mapping.js";

/** How many seeds are recorded: 1 to this one. */
export const RECORDED_SEEDS = 500;
export const SEED_FILE = join(repositoryRoot, "test/golden/recorded/seeds.txt");

let known: ReadonlyMap<number, string> | null = null;

/** What is recorded of a seed's log; null for a seed that nobody recorded. */
export function recordedSeed(seed: number): string | null {
  known ??= new Map(
    readFileSync(SEED_FILE, "utf8")
      .split("\n")
      .map((line) => [Number.parseInt(line, 10), line]),
  );
  return known.get(seed) ?? null;
}

/** `SEED: NUMBER OF EVENTS, SHA-256`: of each event with its number and time, keys in the order of the alphabet. */
export function describeSeed(seed: number, log: readonly LoggedEvent[]): string {
  const hash = createHash("sha256");
  for (const { seq, at, event } of log)
    hash.update(`${JSON.stringify(sortedKeys({ seq, at, event: asRecorded(event) }))}\n`);
  return `${seed}: ${log.length} events, ${hash.digest("hex")}`;
}
