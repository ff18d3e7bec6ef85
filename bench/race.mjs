// Contenders in interleaved rounds, and what the rounds say together.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "./measure.mjs";

/** What may fail without being a fault of Daruma. */
const PEER = /^(node -e|make|ninja|xargs|GNU parallel|snakemake|DBOS|openworkflow)\b/;

const MAX_REASON_CHARS = 200;

/** Another program that takes this long a round runs in the first rounds only: the others would wait for it most of the time. */
const SLOW_MS = 15_000;
const SLOW_ROUNDS = 2;

/** Folders are removed only at the end: for some seconds after a deletion ext4 makes new files several times slower. */
const folders = [];
process.once("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export function freshFolder() {
  const folder = mkdtempSync(join(tmpdir(), "daruma-bench-"));
  folders.push(folder);
  return folder;
}

/**
 * Runs every contender once a round, in turn: name -> measurements, one for each round that it took part in. One that
 * fails is left out of the results and named in `skipped`.
 */
export async function race(contenders, rounds, skipped) {
  const results = new Map(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(contenders)) {
      if (!results.has(name) || (round >= SLOW_ROUNDS && isSlowPeer(name, results.get(name)))) continue;
      try {
        results.get(name).push(await run(freshFolder()));
      } catch (error) {
        leaveOut(skipped, { name, reason: reasonOf(error), is_own: !PEER.test(name) });
        results.delete(name);
      }
    }
  }
  return results;
}

const isSlowPeer = (name, measurements) =>
  PEER.test(name) && measurements.some(({ wallMs }) => wallMs > SLOW_MS);

/** Says once what several parts leave out. */
export function leaveOut(skipped, entry) {
  if (!skipped.some(({ name, reason }) => name === entry.name && reason === entry.reason))
    skipped.push(entry);
}

/** One line: what a process says of its end often has a stack trace around the line that matters. */
function reasonOf({ message }) {
  const lines = message.split("\n");
  return (lines.find((line) => /^\w*Error\b/.test(line)) ?? lines[0]).slice(0, MAX_REASON_CHARS);
}

/** Median, least and greatest of some numbers; null where there are none. */
export function figureOf(values) {
  const known = values.filter((value) => value !== null && value !== undefined);
  if (known.length === 0) return null;
  return { median: median(known), min: Math.min(...known), max: Math.max(...known) };
}

/** How much longer `own` took than `other`, compared round by round, because a round shares its weather. */
export function timeRatio(own, other) {
  if (own === undefined || other === undefined) return null;
  return figureOf(other.map(({ wallMs }, round) => (own[round] ? own[round].wallMs / wallMs : null)));
}

/**
 * One row a contender: what `figure` makes of each of its measurements, and Daruma's time as a multiple of its time.
 * `figure` has the column's title and digits.
 */
export function compare(results, { key, title, digits, of }) {
  const own = results.get("daruma");
  return {
    columns: [
      { key, title, digits },
      { key: "ratio", title: "Daruma's time / its time", digits: 2, suffix: "x" },
    ],
    rows: [...results].map(([name, measurements]) => ({
      name,
      cells: {
        [key]: figureOf(measurements.map(of)),
        ratio: name === "daruma" ? null : timeRatio(own, measurements),
      },
    })),
  };
}
