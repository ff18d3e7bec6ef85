import { isDeepStrictEqual } from "node:util";
import { replay } from "../../src/core/decide/decision.js";
import type { Event } from "../../src/core/model/events.js";
import { newRun } from "../../src/core/model/make-run.js";
import type { Run } from "../../src/core/model/run.js";
import { describeSeed, recordedSeed } from "../golden/seed-hashes.js";
import { findViolations } from "../support/invariants.js";
import { snapshotRun } from "../support/run-snapshot.js";
import type { SimResult } from "./simulation.js";

const NOT_AS_RECORDED =
  "the log is another than the recorded one; test/golden/README.md says how to see where they differ";

/** All that is wrong with a story that has ended, each in a sentence. */
export function findFaults(result: SimResult): string[] {
  const { seed, run, log, definition, mixed, unrecorded, bookRows, rowsOfLog } = result;
  const faults: string[] = [];
  if (!["completed", "failed", "canceled"].includes(run.status)) faults.push(`the run is ${run.status}`);
  const [loaded, folded] = [run, replayWhole(result)].map((each) => JSON.stringify(snapshotRun(each)));
  if (loaded !== folded)
    faults.push(`the loaded run is not the fold of its log: ${difference(loaded!, folded!)}`);
  for (const each of mixed) faults.push(`began among the remains of others: ${each}`);
  for (const each of unrecorded) faults.push(`began before its start was committed: ${each}`);
  if (!isDeepStrictEqual(plain(bookRows), plain(rowsOfLog)))
    faults.push(
      `the failure book was told ${JSON.stringify(bookRows)}, the log says ${JSON.stringify(rowsOfLog)}`,
    );
  faults.push(...findViolations(log, definition));
  const recorded = recordedSeed(seed);
  if (recorded !== null && describeSeed(seed, log) !== recorded) faults.push(NOT_AS_RECORDED);
  return faults;
}

/** Of the log alone, whatever snapshots there are. */
function replayWhole({ run: { id, definition }, log }: SimResult): Run {
  const { event, at } = log[0]!;
  const run = newRun(id, definition, event as Extract<Event, { type: "run.created" }>, at);
  replay(run, log);
  return run;
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** How much of two texts is shown from where they differ. */
const SHOWN = 200;

function difference(one: string, other: string): string {
  let at = 0;
  while (one[at] === other[at]) at += 1;
  const from = Math.max(0, at - SHOWN / 2);
  return [one, other].map((text) => text.slice(from, from + SHOWN)).join(" and ");
}
