import { statSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Run } from "../core/model/run.js";

/** Some 10,000 short steps. */
const LARGE_FILE_BYTES = 256 * 1_024;
const LARGE_RUN_JOBS = 10_000;
const USUAL_PERCENT = 0;
const LARGE_PERCENT = 30;

let percent = USUAL_PERCENT;

/**
 * V8 lets a heap grow to four times what was live at its last collection: a run of 100,000 noops, of which 120 MB live,
 * took 600 MB. While this program works on something large its heap grows by a third each time instead, which takes 360 MB
 * and some 15 % more CPU time. Only then, because V8 refuses code that was compiled under other flags: to load the modules
 * of Node itself anew would cost a small run more than it could save.
 */
export function growHeapSlowlyForFile(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size >= LARGE_FILE_BYTES) growBy(LARGE_PERCENT);
}

/**
 * The same for runs that grow large: to be called with each run that has changed. The heap has grown by then, and would
 * keep the limit of its last collection until it has reached it; so there is one at once.
 */
export function growHeapSlowlyForRun({ jobs }: Run): void {
  if (jobs.length >= LARGE_RUN_JOBS) growHeapSlowly();
}

/**
 * The same for a server once it has started. Of its heap 25 MB live, and what small runs leave behind would be collected
 * at 100: one collection in a thousand runs. A few more cost nothing.
 */
export function growHeapSlowly(): void {
  if (percent === LARGE_PERCENT) return;
  growBy(LARGE_PERCENT);
  collectGarbage();
}

/** Before what V8 has compiled is kept for the next start, which begins without any flag. */
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
