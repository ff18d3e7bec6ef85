import { statSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Run } from "../core/model/run.js";

/** A file with about 10,000 short steps. */
const LARGE_FILE_BYTES = 256 * 1_024;
const LARGE_RUN_JOBS = 10_000;
const USUAL_PERCENT = 0;
const LARGE_PERCENT = 30;

let percent = USUAL_PERCENT;

/**
 * Makes the heap grow by a third at a time while a large file is processed. V8 lets a heap grow to four times what was
 * live at its last collection: a run of 100,000 noops, with 120 MB live, took 600 MB. This way it takes 360 MB and some
 * 15 % more CPU time. It is only done for large files, because V8 rejects code that was compiled under other flags:
 * loading Node's own modules again would cost a small run more than it could save.
 */
export function growHeapSlowlyForFile(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size >= LARGE_FILE_BYTES) growBy(LARGE_PERCENT);
}

/**
 * Does the same once a run has grown large. Call it with each run that has changed. It collects at once, because the
 * heap would otherwise keep the limit of its last collection until it reaches it.
 */
export function growHeapSlowlyForRun({ jobs }: Run): void {
  if (jobs.length >= LARGE_RUN_JOBS) growHeapSlowly();
}

/**
 * Does the same for a server that has started. Only 25 MB of its heap live, and the garbage of small runs would be
 * collected at 100 MB, once in a thousand runs. A few more collections cost nothing.
 */
export function growHeapSlowly(): void {
  if (percent === LARGE_PERCENT) return;
  growBy(LARGE_PERCENT);
  collectGarbage();
}

/** Restores V8's default. Call it before compiled code is cached for the next start, which begins without flags. */
export function growHeapAsUsual(): void {
  growBy(USUAL_PERCENT);
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  setFlagsFromString("--no-expose-gc");
}

function growBy(wanted: number): void {
  if (wanted === percent) return;
  percent = wanted;
  setFlagsFromString(`--heap-growing-percent=${wanted}`);
}
